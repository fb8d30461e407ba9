/* similarity.h: thresholds on Cairn's own scale of similarity, 0 to 1. Each embedder ships a calibration onto this
 * scale, so changing the embedder does not change what counts as a duplicate. */
#pragma once

#define SIMILARITY_NEAR 0.75 /* probably the same topic */
#define SIMILARITY_SAME 0.92 /* same meaning */
