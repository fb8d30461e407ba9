/* differ_words.c: lexicon of the difference check: word tables, stemming, units. */
#include "core/gate/differ_words.h"

#include <assert.h>

static const char stop_words[] =
    "a an the this that these those it its itself i me my we us our you your he him his she her they them their "
    "who whom whose which what when where why how there here is are was were be been being am do does did done "
    "doing have has had having will would shall should can could may might must ought of to for from by with as and "
    "or but so if then than because since while although though however also too very just really quite rather even "
    "still yet already again only own such same other another some any much more most about into onto through "
    "between among during within across along around against toward towards upon per via up down in on at off out over "
    "under before after s t re ve ll d m please currently actually basically simply lets got get gets getting "
    "both either well ever else etc ok both going make makes something someone somebody anything longer have "
    "each every all set sets eg ie vs mr mrs ms dr";

/* Each governs the next content word of its clause. is_negating() in differ_token.c has the exceptions. */
static const char negators[] =
    "not no never none nothing nobody nowhere neither nor without cannot cant dont doesnt didnt isnt arent wasnt "
    "werent wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt unless hardly barely avoid avoids avoiding "
    "avoided lack lacks lacking except excluding stop stops stopped stopping cease ceased ceases quit fail fails "
    "failed failing refuse refuses refused refusing instead nicht kein keine keinen niemals ohne pas jamais sans nunca "
    "\xd0\xbd\xd0\xb5 \xd0\xbd\xd0\xb5\xd1\x82 \xd0\xb1\xd0\xb5\xd0\xb7 \xe4\xb8\x8d \xe6\xb2\xa1 \xe6\x9c\xaa "
    "\xe7\x84\xa1 "
    "\xe6\x97\xa0 \xe5\x88\xab";

/* The position of a word in its list, from 0, is its value. "-" is a placeholder. */
static const char cardinals[] = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
                                "fifteen sixteen seventeen eighteen nineteen twenty";
static const char ordinals[] = "- first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth";
static const char months[] = "- january february march april may june july august september october november december";
static const char short_months[] = "- jan feb mar apr - jun jul aug sep oct nov dec";
static const char days[] =
    "- monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday tonight";
static const char day_plurals[] = "- mondays tuesdays wednesdays thursdays fridays saturdays sundays";
static const char short_days[] = "- mon tue wed thu fri - -";

static const struct {
  const char *word;
  double value;
  enum word_class class;
} number_words[] = {
    {"thirty", 30, WORD_NUMBER},     {"forty", 40, WORD_NUMBER},       {"fifty", 50, WORD_NUMBER},
    {"sixty", 60, WORD_NUMBER},      {"seventy", 70, WORD_NUMBER},     {"eighty", 80, WORD_NUMBER},
    {"ninety", 90, WORD_NUMBER},     {"dozen", 12, WORD_NUMBER},       {"couple", 2, WORD_NUMBER},
    {"once", 1, WORD_NUMBER},        {"twice", 2, WORD_NUMBER},        {"thrice", 3, WORD_NUMBER},
    {"hundred", 100, WORD_MULTIPLE}, {"thousand", 1e3, WORD_MULTIPLE}, {"million", 1e6, WORD_MULTIPLE},
    {"billion", 1e9, WORD_MULTIPLE}, {"noon", 12, WORD_CLOCK},         {"midnight", 0, WORD_CLOCK},
};

static const struct {
  const char *names; /* a single letter counts only directly after digits */
  enum dimension dimension;
  double factor;
} units[] = {
    {"us usec microsecond microseconds", DIMENSION_TIME, 1e-3},
    {"ms msec millisecond milliseconds", DIMENSION_TIME, 1},
    {"s sec secs second seconds", DIMENSION_TIME, 1e3},
    {"m min mins minute minutes", DIMENSION_TIME, 60e3},
    {"h hr hrs hour hours", DIMENSION_TIME, 3600e3},
    {"d day days", DIMENSION_TIME, 86400e3},
    {"w wk week weeks", DIMENSION_TIME, 7 * 86400e3},
    {"month months", DIMENSION_TIME, 30.4375 * 86400e3}, /* twelve are a year */
    {"y yr yrs year years", DIMENSION_TIME, 365.25 * 86400e3},
    {"b byte bytes", DIMENSION_BYTES, 1},
    {"kb", DIMENSION_BYTES, 1e3},
    {"mb megabyte megabytes", DIMENSION_BYTES, 1e6},
    {"gb gigabyte gigabytes", DIMENSION_BYTES, 1e9},
    {"tb terabyte terabytes", DIMENSION_BYTES, 1e12},
    {"kib", DIMENSION_BYTES, 1024},
    {"mib", DIMENSION_BYTES, 1024.0 * 1024},
    {"gib", DIMENSION_BYTES, 1024.0 * 1024 * 1024},
    {"% percent pct", DIMENSION_PERCENT, 1},
    {"usd dollar dollars $", DIMENSION_MONEY, 1},
    {"eur euro euros", DIMENSION_EURO, 1},
    {"mm", DIMENSION_LENGTH, 1},
    {"cm", DIMENSION_LENGTH, 10},
    {"km kilometers kilometres", DIMENSION_LENGTH, 1e6},
    {"kg kilograms", DIMENSION_WEIGHT, 1e3},
    {"k", DIMENSION_NONE, 1e3},
    {"mn", DIMENSION_NONE, 1e6},
    {"bn", DIMENSION_NONE, 1e9},
};

/* Irregular forms as pairs "form stem". The stem is the one that word_stem() returns for the base form. */
static const char irregular[] =
    "men man women woman children child people person feet foot teeth tooth mice mouse wives wif knives knif went go "
    "gone go goes go ran run took tak taken tak gave giv given giv made mak wrote writ written writ "
    "broke break broken break chose choos chosen choos built build sent send kept keep held hold found find "
    "told tell said say saw see seen see knew know known know grew grow grown grow threw throw thrown throw fell fall "
    "fallen fall drove driv driven driv rode rid ridden rid sat sit stood stand lying li ate eat eaten "
    "eat drank drink drunk drink began begin begun begin spoke speak spoken speak caught catch taught teach thought "
    "think bought buy brought bring fought fight slept sleep met meet led lead paid pay laid lay lost los won win hung "
    "hang came com became becom froze freez frozen freez hidden hid wore wear worn wear flew fly flown fly swam swim "
    "drew draw drawn draw sang sing indices index vertices vertex criteria criterion dying di "
    "embed embed embeds embed embedded embed embedding embed embeddings embed";

/* Words on the same side of " / " are synonyms; words on different sides exclude each other. Inflections need no
 * entry. */
static const char *const opposites[] = {
    "enable activate on active / disable deactivate off inactive",
    "foreground / background",
    "allow permit / block deny forbid forbidden prohibit ban disallow refuse",
    "accept approve / reject decline refuse",
    "grant / revoke",
    "before / after",
    "earlier / later",
    "previous / next",
    "first / last",
    "always / never / sometimes",
    "often frequently / rarely seldom",
    "all every each / some / none",
    "same / opposite",
    "everyone everybody / nobody",
    "everything / nothing",
    "on / off",
    "in inside indoors / out outside outdoors",
    "into onto / out off",
    "near close beside / far away",
    "up / down",
    "upstairs / downstairs",
    "upward / downward",
    "upstream / downstream",
    "over above / under below beneath underneath",
    "left / right",
    "true yes / false",
    "right correct accurate / wrong incorrect inaccurate",
    "increase raise grow expand higher / decrease reduce lower shrink drop",
    "rise / fall",
    "more greater / less fewer",
    "most / least fewest",
    "most / few",
    "many / few",
    "much / little",
    "maximum max most / minimum min least",
    "high tall / low short",
    "large big huge / small little tiny",
    "long / short",
    "wide broad / narrow",
    "thick / thin",
    "fat / thin skinny",
    "deep / shallow",
    "fast quick rapid / slow",
    "tabs / spaces",
    "open / closed close shut resolved",
    "open vacant / filled taken",
    "start begin launch / stop end finish halt",
    "begin / finish conclude",
    "lock / unlock",
    "add / remove delete drop",
    "create / delete destroy remove",
    "insert / delete",
    "install / uninstall",
    "attach / detach",
    "connect / disconnect",
    "include / exclude omit",
    "import / export",
    "push / pull",
    "read / write",
    "upload / download",
    "encode / decode",
    "encrypt / decrypt",
    "compress / decompress",
    "serialize / deserialize",
    "mount / unmount",
    "load / unload",
    "pass succeed success / fail failure",
    "success / error",
    "work / fail break",
    "fix repair solve / break",
    "fix help / worsen",
    "win / lose",
    "valid / invalid",
    "public / private",
    "internal / external",
    "local / remote",
    "local / global",
    "client / server",
    "frontend / backend",
    "input / output",
    "inbound incoming / outbound outgoing",
    "source / target destination",
    "parent / child",
    "old / new",
    "old elderly / young",
    "ancient / modern",
    "sync synchronous / async asynchronous",
    "blocking / nonblocking",
    "mutable / immutable",
    "static / dynamic",
    "manual manually / automatic automatically",
    "optional voluntary / required mandatory compulsory must",
    "complete done finish / half partial incomplete unfinished ongoing pending",
    "primary / secondary / backup",
    "default / custom",
    "temporary / permanent",
    "online / offline",
    "present / absent",
    "exists / missing",
    "full / empty",
    "safe secure / dangerous unsafe insecure",
    "strong / weak",
    "good great excellent / bad poor terrible awful",
    "better / worse",
    "best / worst",
    "easy simple / hard difficult",
    "simple / complex complicated",
    "soft / hard",
    "light / heavy",
    "light bright / dark dim",
    "hot warm / cold cool",
    "dry / wet",
    "clean / dirty",
    "rich / poor",
    "cheap / expensive",
    "loud noisy / quiet silent",
    "early / late",
    "past / future",
    "front / back rear",
    "forward / backward",
    "ahead / behind",
    "top / bottom",
    "start beginning / end",
    "horizontal / vertical",
    "ascending / descending",
    "positive / negative",
    "odd / even",
    "single / multiple",
    "single / double",
    "together / apart separately",
    "alone / together",
    "same identical / different another other",
    "equal / unequal",
    "like love enjoy prefer / dislike hate detest",
    "happy glad smiling / sad unhappy frowning crying",
    "laugh / cry",
    "smile / frown",
    "alive / dead",
    "live / die",
    "awake / asleep sleep",
    "wake / sleep",
    "sit seated / stand",
    "sit / lie",
    "walk / run",
    "moving / stationary still parked motionless",
    "buy / sell",
    "give / take receive",
    "lend / borrow",
    "send / receive",
    "ask / answer",
    "arrive / leave depart",
    "come / go",
    "enter / exit leave",
    "stay remain / leave",
    "keep retain preserve / discard drop remove delete",
    "remember / forget",
    "hide / show display",
    "visible / hidden invisible",
    "catch / throw",
    "ascend climb / descend",
    "man guy gentleman / woman lady",
    "boy / girl",
    "male / female",
    "he him his / she her",
    "father dad / mother mom",
    "son / daughter",
    "brother / sister",
    "husband / wife",
    "adult / child kid",
    "day daytime / night nighttime",
    "morning / afternoon / evening / night",
    "summer / winter / spring / autumn fall",
    "north / south / east / west",
    "northern / southern / eastern / western",
    "red / blue / green / yellow / orange / purple / pink / brown / black / white / gray grey",
    "until / after",
    "must / may",
    "major / minor / patch",
    "debug / info / warn warning / error",
    "dev development / staging / production prod / test",
    "daily / weekly / monthly / yearly annually / hourly",
    "user / admin",
    "whitelist allowlist / blacklist denylist",
    "lenient / strict",
    "eager / lazy",
    "serial sequential / parallel concurrent",
    "stable / flaky broken",
    "encrypted / plaintext",
    "compatible / incompatible",
    "unable / able",
    "unable / enable",
    "upgrade update / downgrade",
    "commit / rollback revert",
    "merge / split",
    "promote / demote",
    "credit / debit",
    "profit gain / loss",
    "guilty / innocent",
    "support / oppose",
    "agree / disagree",
    "war / peace",
    "friend / enemy",
    "crowded busy packed / empty deserted",
    "dressed clothed / naked nude",
};

static const char *const synonyms[] = {
    "repository repo",
    "database db",
    "configuration config cfg",
    "environment env",
    "documentation docs doc",
    "directory folder dir",
    "parameter param argument arg",
    "function func",
    "application app",
    "authentication auth",
    "kubernetes k8s",
    "postgresql postgres pg",
    "javascript js",
    "typescript ts",
    "maximum max",
    "minimum min",
    "dependency dep",
    "specification spec",
    "administrator admin",
    "temporary temp tmp",
    "number num",
    "message msg",
    "request req",
    "response resp",
    "variable var",
    "package pkg",
    "development dev",
    "production prod",
    "use utilize employ",
    "fix repair solve resolve correct",
    "remove delete erase",
    "make create",
    "begin start commence",
    "need require",
    "show display",
    "check verify",
    "choose select pick",
    "ensure guarantee",
    "help assist",
    "happen occur",
    "keep retain",
    "run execute",
    "stop halt",
    "wait pause",
    "get obtain fetch retrieve",
    "error failure",
    "bug defect",
    "job task",
    "method approach way",
    "fast quick rapid swift",
    "big large huge",
    "small little tiny",
    "kid child",
    "man guy",
    "woman lady",
    "sofa couch",
    "speak talk",
    "near close next beside",
    "shut close",
    "look watch stare gaze",
    "happy glad",
    "street road",
    "jump leap",
    "sick ill",
    "yell shout scream",
    "rock stone",
    "bike bicycle",
    "photo photograph picture",
    "car automobile",
    "plane airplane aircraft",
    "phone telephone",
    "tv television",
    "buy purchase",
    "answer reply respond",
    "say state tell",
    "end finish",
    "mainly mostly",
    "maybe perhaps",
    "often frequently",
    "many several numerous",
    "good great",
    "best top",
    "improve increase",
    "hard difficult",
    "crucial important",
    "born birth birthday",
    "memory ram vram",
    "finish done complete",
    "cancel cancellation",
    "own belong",
    "lead head",
    "nominate assign appoint",
    "vacation holiday leave",
    "laptop notebook",
    "meeting call",
    "salary pay",
    "supplier vendor",
    "client customer",
    "engineer developer",
    "mail email",
    "ticket issue",
    "concise short brief terse",
    "fly flight",
    "deploy ship rollout roll",
    "cancel drop abandon",
    "pause suspend hold",
    "release publish",
    "approve accept sign",
    "cost price",
    "retrospective retro",
};

/* ---- index */

/* Open addressing. Sizes are powers of two, about twice the number of words. */
enum { SURFACE_SLOTS = 1024, SENSE_SLOTS = 2048 };

struct surface {
  struct str word, stem; /* stem: only for an irregular form */
  struct word_info info;
};

struct meaning {
  struct str stem;
  const struct sense *senses;
};

struct lexicon {
  struct arena *a;
  struct meaning *meanings; /* built on first use: texts without replaced words never need it */
  struct surface surface[SURFACE_SLOTS];
};

static size_t hash_word(struct str word) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < word.n; i++)
    h = (h ^ (unsigned char)word.p[i]) * 16777619u;
  return h ^ h >> 15;
}

/* Slot of the word, or the free slot for it. The loop ends because the table is never full. */
static struct surface *surface_slot(struct lexicon *l, struct str word) {
  size_t at = hash_word(word) % SURFACE_SLOTS;
  while (l->surface[at].word.n && !str_eq(l->surface[at].word, word))
    at = (at + 1) % SURFACE_SLOTS;
  return &l->surface[at];
}

static struct meaning *meaning_slot(struct lexicon *l, struct str stem) {
  size_t at = hash_word(stem) % SENSE_SLOTS;
  while (l->meanings[at].stem.n && !str_eq(l->meanings[at].stem, stem))
    at = (at + 1) % SENSE_SLOTS;
  return &l->meanings[at];
}

/* The first list that names a word decides its class. */
static void put_word(struct lexicon *l, struct str word, enum word_class class, double value) {
  assert(word.n > 0); /* an empty word is a free slot */
  struct surface *s = surface_slot(l, word);
  if (!s->word.n && !str_is(word, "-"))
    *s = (struct surface){.word = word, .info = {class, value}};
}

static void put_list(struct lexicon *l, const char *words, enum word_class class) {
  struct str rest = str_from(words), word;
  for (int i = 0; str_next(&rest, ' ', &word); i++)
    put_word(l, word, class, i);
}

struct lexicon *lexicon_new(struct arena *a) {
  struct lexicon *l = arena_new(a, struct lexicon);
  l->a = a;
  put_list(l, negators, WORD_NEGATOR);
  put_list(l, cardinals, WORD_NUMBER);
  put_list(l, ordinals, WORD_ORDINAL);
  put_list(l, months, WORD_MONTH);
  put_list(l, short_months, WORD_MONTH);
  put_list(l, days, WORD_DAY);
  put_list(l, day_plurals, WORD_DAY);
  put_list(l, short_days, WORD_DAY);
  for (size_t i = 0; i < ARRAY_LEN(number_words); i++)
    put_word(l, str_from(number_words[i].word), number_words[i].class, number_words[i].value);
  put_list(l, stop_words, WORD_STOP);
  struct str rest = str_from(irregular), form, base;
  while (str_next(&rest, ' ', &form) && str_next(&rest, ' ', &base)) {
    struct surface *s = surface_slot(l, form);
    s->word = form;
    s->stem = base;
  }
  return l;
}

struct word_info lexicon_class(struct lexicon *l, struct str word) { return surface_slot(l, word)->info; }

static void put_senses(struct lexicon *l, const char *words, short group) {
  struct str rest = str_from(words), word;
  for (short side = 0; str_next(&rest, ' ', &word);) {
    if (str_is(word, "/")) {
      side++;
      continue;
    }
    struct str stem = word_stem(word);
    assert(stem.n > 0);
    struct meaning *m = meaning_slot(l, stem);
    struct sense *s = arena_new(l->a, struct sense);
    *s = (struct sense){m->senses, group, side};
    *m = (struct meaning){stem, s};
  }
}

const struct sense *lexicon_senses(struct lexicon *l, struct str stem) {
  if (!l->meanings) {
    l->meanings = arena_array(l->a, struct meaning, SENSE_SLOTS);
    short group = 0;
    for (size_t i = 0; i < ARRAY_LEN(opposites); i++)
      put_senses(l, opposites[i], group++);
    for (size_t i = 0; i < ARRAY_LEN(synonyms); i++)
      put_senses(l, synonyms[i], group++);
  }
  return meaning_slot(l, stem)->senses;
}

enum relation lexicon_relation(const struct sense *a, const struct sense *b) {
  enum relation found = RELATION_NONE;
  for (; a; a = a->next)
    for (const struct sense *s = b; s; s = s->next)
      if (a->group == s->group) {
        if (a->side != s->side)
          return RELATION_OPPOSITE;
        found = RELATION_SAME;
      }
  return found;
}

/* ---- stems and spelling */

static bool has_vowel(struct str w) {
  for (size_t i = 0; i < w.n; i++)
    if (memchr("aeiouy", w.p[i], 6))
      return true;
  return false;
}

static bool cut_ending(struct str *w, const char *ending, size_t keep) {
  struct str suffix = str_from(ending);
  if (w->n < suffix.n + keep || !str_ends(*w, suffix) || !has_vowel((struct str){w->p, w->n - suffix.n}))
    return false;
  w->n -= suffix.n;
  return true;
}

struct str word_stem(struct str w) {
  if (w.n < 3 || !ascii_alpha(w.p[w.n - 1]))
    return w;
  bool cut = false, inflected = memchr("sdgy", w.p[w.n - 1], 4) != NULL;
  if (inflected && (cut_ending(&w, "ies", 2) || cut_ending(&w, "ied", 2) || cut_ending(&w, "ily", 3)))
    return w; /* "tries" and "tried" become "tr", as "try" does below */
  if (inflected && !str_ends(w, STR("ss")) && !str_ends(w, STR("us")) && !str_ends(w, STR("is")))
    cut = cut_ending(&w, "s", 2);
  if (inflected && !str_ends(w, STR("eed")))
    cut |= cut_ending(&w, "ing", 2) || cut_ending(&w, "ed", 2) || cut_ending(&w, "ly", 3);
  if (cut && w.n > 3 && w.p[w.n - 1] == w.p[w.n - 2] && !memchr("lsz", w.p[w.n - 1], 3))
    w.n--;
  if (w.n > 2 && (w.p[w.n - 1] == 'e' || (w.p[w.n - 1] == 'y' && !memchr("aeou", w.p[w.n - 2], 4))))
    w.n--;
  return w;
}

struct str lexicon_stem(struct lexicon *l, struct str word) {
  struct surface *s = surface_slot(l, word);
  return s->stem.n ? s->stem : word_stem(word);
}

bool word_in(struct str word, const char *list) {
  struct str rest = str_from(list), part;
  while (str_next(&rest, ' ', &part))
    if (str_eq(part, word))
      return true;
  return false;
}

/* Endings that change the part of speech but not the topic. */
static bool is_derivational(struct str ending) {
  return word_in(ending,
                 " e y i er or r ment ement ion ation tion ition al ity ness abl ibl iv anc enc anci enci l ic ical "
                 "ist ism iz is ifi at t ent ant ar ship ership ication");
}

/* Ignores British and American variants: s for z, ou for o. */
static bool is_same_spelling(struct str a, struct str b) {
  size_t i = 0, j = 0;
  while (i < a.n && j < b.n) {
    char x = a.p[i] == 'z' ? 's' : a.p[i], y = b.p[j] == 'z' ? 's' : b.p[j];
    if (x == y)
      i++, j++;
    else if (i && a.p[i - 1] == 'o' && x == 'u')
      i++;
    else if (j && b.p[j - 1] == 'o' && y == 'u')
      j++;
    else
      return false;
  }
  return i == a.n && j == b.n;
}

static bool has_negating_affix(struct str a, struct str b) {
  static const struct str prefixes[] = {STR_INIT("un"),  STR_INIT("in"),  STR_INIT("im"),  STR_INIT("ir"),
                                        STR_INIT("il"),  STR_INIT("dis"), STR_INIT("non"), STR_INIT("de"),
                                        STR_INIT("mis"), STR_INIT("anti")};
  for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
    if (a.n > 2 && b.n == prefixes[i].n + a.n && str_starts(b, prefixes[i]) && str_ends(b, a))
      return true;
  if (!str_ends(b, STR("less")) || b.n < 7)
    return false;
  struct str root = {b.p, b.n - 4};
  return str_starts(a, root) && (a.n == root.n || str_ends(a, STR("ful")));
}

enum relation word_relation(struct str a, struct str b) {
  if (has_negating_affix(a, b) || has_negating_affix(b, a))
    return RELATION_OPPOSITE;
  size_t n = 0;
  while (n < a.n && n < b.n && a.p[n] == b.p[n])
    n++;
  for (size_t cut = n; n >= 4 && cut + 1 >= n && cut >= 4; cut--)
    if (is_derivational(str_slice(a, cut, a.n)) && is_derivational(str_slice(b, cut, b.n)))
      return RELATION_SAME;
  return is_same_spelling(a, b) ? RELATION_SAME : RELATION_NONE;
}

double unit_factor(struct str word, bool attached, enum dimension *ret_dimension) {
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    struct str rest = str_from(units[i].names), name;
    while (str_next(&rest, ' ', &name))
      if (str_eq(name, word) &&
          (attached || name.n > 2 || !(name.n == 1 ? ascii_alpha(name.p[0]) : name.p[0] == 'u'))) {
        *ret_dimension = units[i].dimension;
        return units[i].factor;
      }
  }
  return 0;
}
