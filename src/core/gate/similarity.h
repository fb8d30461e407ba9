/* similarity.h: the two marks on Cairn's own scale of similarity, 0 to 1. Every embedder ships a calibration onto this
 * scale, so that a change of embedder does not change what counts as a duplicate. */
#pragma once

#define SIMILARITY_NEAR 0.75 /* probably about the same thing */
#define SIMILARITY_SAME 0.92 /* same meaning */
