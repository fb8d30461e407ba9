/* redact_name.c: recognition of names that hold secrets: DB_PASSWORD, apiKey, "client secret". */
#include <assert.h>

#include "core/secrets/redact_scan.h"

/* Bytes read backwards. */
enum { NAME_BYTES = 48, NAME_RUN = 128 };

/* In addition to the NAME_ flags: matches only a whole word, because longer words contain it, such as compass. */
enum { WHOLE = 1024 };

/* Last words of names that hold secrets, in lower case, without blanks, '_' and '-'. */
static const struct secret_word {
  struct str word;
  unsigned flags;
} secret_words[] = {
    {STR_INIT("password"), NAME_PASSWORD},
    {STR_INIT("passwd"), NAME_PASSWORD},
    {STR_INIT("passphrase"), NAME_PASSWORD},
    {STR_INIT("passcode"), NAME_PASSWORD},
    {STR_INIT("pass"), NAME_PASSWORD | WHOLE},
    {STR_INIT("pwd"), NAME_PASSWORD | WHOLE},
    {STR_INIT("pw"), NAME_PASSWORD | WHOLE},
    {STR_INIT("passwort"), NAME_PASSWORD},
    {STR_INIT("kennwort"), NAME_PASSWORD},
    {STR_INIT("contraseña"), NAME_PASSWORD},
    {STR_INIT("motdepasse"), NAME_PASSWORD},
    {STR_INIT("senha"), NAME_PASSWORD | WHOLE},
    {STR_INIT("пароль"), NAME_PASSWORD},
    {STR_INIT("Пароль"), NAME_PASSWORD},
    {STR_INIT("密码"), NAME_PASSWORD},
    {STR_INIT("パスワード"), NAME_PASSWORD},
    {STR_INIT("비밀번호"), NAME_PASSWORD},
    {STR_INIT("wachtwoord"), NAME_PASSWORD},
    {STR_INIT("hasło"), NAME_PASSWORD},
    {STR_INIT("haslo"), NAME_PASSWORD | WHOLE},
    {STR_INIT("parola"), NAME_PASSWORD | WHOLE},
    {STR_INIT("parolă"), NAME_PASSWORD},
    {STR_INIT("lozinka"), NAME_PASSWORD},
    {STR_INIT("şifre"), NAME_PASSWORD},
    {STR_INIT("şifresi"), NAME_PASSWORD},
    {STR_INIT("parolası"), NAME_PASSWORD},
    {STR_INIT("sifre"), NAME_PASSWORD | WHOLE},
    {STR_INIT("paroladordine"), NAME_PASSWORD},
    {STR_INIT("palavrapasse"), NAME_PASSWORD},
    {STR_INIT("contrasena"), NAME_PASSWORD},
    {STR_INIT("contrasenya"), NAME_PASSWORD},
    {STR_INIT("clave"), NAME_PASSWORD | WHOLE},
    {STR_INIT("mdp"), NAME_PASSWORD | WHOLE},
    {STR_INIT("lösenord"), NAME_PASSWORD},
    {STR_INIT("adgangskode"), NAME_PASSWORD},
    {STR_INIT("passord"), NAME_PASSWORD},
    {STR_INIT("salasana"), NAME_PASSWORD},
    {STR_INIT("jelszó"), NAME_PASSWORD},
    {STR_INIT("heslo"), NAME_PASSWORD | WHOLE},
    {STR_INIT("κωδικός"), NAME_PASSWORD},
    {STR_INIT("συνθηματικό"), NAME_PASSWORD},
    {STR_INIT("סיסמה"), NAME_PASSWORD},
    {STR_INIT("mậtkhẩu"), NAME_PASSWORD},
    {STR_INIT("รหัสผ่าน"), NAME_PASSWORD},
    {STR_INIT("katasandi"), NAME_PASSWORD},
    {STR_INIT("کلمهعبور"), NAME_PASSWORD},
    {STR_INIT("كلمةالمرور"), NAME_PASSWORD},
    {STR_INIT("كلمةالسر"), NAME_PASSWORD},
    {STR_INIT("पासवर्ड"), NAME_PASSWORD},
    {STR_INIT("कूटशब्द"), NAME_PASSWORD},
    {STR_INIT("पासवर्डहै"), NAME_PASSWORD},
    {STR_INIT("密碼"), NAME_PASSWORD},
    {STR_INIT("口令"), NAME_PASSWORD},
    {STR_INIT("暗号"), NAME_PASSWORD},
    {STR_INIT("暗証番号"), NAME_PASSWORD},
    {STR_INIT("암호"), NAME_PASSWORD},
    {STR_INIT("패스워드"), NAME_PASSWORD},
    {STR_INIT("пароля"), NAME_PASSWORD},
    {STR_INIT("паролем"), NAME_PASSWORD},
    {STR_INIT("лозинка"), NAME_PASSWORD},
    {STR_INIT("parool"), NAME_PASSWORD | WHOLE},
    {STR_INIT("slaptažodis"), NAME_PASSWORD},
    {STR_INIT("zaporka"), NAME_PASSWORD},
    {STR_INIT("geslo"), NAME_PASSWORD | WHOLE},
    {STR_INIT("Şifre"), NAME_PASSWORD},
    {STR_INIT("secret"), NAME_SECRET},
    {STR_INIT("token"), NAME_SECRET},
    {STR_INIT("apikey"), NAME_SECRET},
    {STR_INIT("accesskey"), NAME_SECRET},
    {STR_INIT("secretaccesskey"), NAME_SECRET | NAME_AWS},
    {STR_INIT("awssecretkey"), NAME_SECRET | NAME_AWS},
    {STR_INIT("awssecret"), NAME_SECRET | NAME_AWS},
    {STR_INIT("secretkey"), NAME_SECRET},
    {STR_INIT("secretkeybase"), NAME_SECRET},
    {STR_INIT("privatekey"), NAME_SECRET},
    {STR_INIT("privatekeyid"), NAME_SECRET | NAME_GCP},
    {STR_INIT("authkey"), NAME_SECRET},
    {STR_INIT("encryptionkey"), NAME_SECRET},
    {STR_INIT("signingkey"), NAME_SECRET},
    {STR_INIT("masterkey"), NAME_SECRET},
    {STR_INIT("servicekey"), NAME_SECRET},
    {STR_INIT("servicerolekey"), NAME_SECRET},
    {STR_INIT("accountkey"), NAME_SECRET},
    {STR_INIT("sharedkey"), NAME_SECRET},
    {STR_INIT("storagekey"), NAME_SECRET},
    {STR_INIT("licensekey"), NAME_SECRET},
    {STR_INIT("subscriptionkey"), NAME_SECRET},
    {STR_INIT("sessionkey"), NAME_SECRET},
    {STR_INIT("deploykey"), NAME_SECRET},
    {STR_INIT("adminkey"), NAME_SECRET},
    {STR_INIT("hmackey"), NAME_SECRET},
    {STR_INIT("appkey"), NAME_SECRET},
    {STR_INIT("psk"), NAME_SECRET | WHOLE},
    {STR_INIT("jwt"), NAME_SECRET | WHOLE},
    {STR_INIT("creds"), NAME_SECRET | WHOLE},
    {STR_INIT("credential"), NAME_SECRET},
    {STR_INIT("credentials"), NAME_SECRET},
    {STR_INIT("authorization"), NAME_HEADER},
    {STR_INIT("key"), NAME_KEY | WHOLE},
};

/* Words before "token" or "key" that make it harmless: page tokens, tokens of language models, cache keys. */
static const struct str harmless_words[] = {
    STR_INIT("next"),     STR_INIT("page"),        STR_INIT("continuation"), STR_INIT("cursor"),  STR_INIT("max"),
    STR_INIT("min"),      STR_INIT("num"),         STR_INIT("eos"),          STR_INIT("bos"),     STR_INIT("pad"),
    STR_INIT("unk"),      STR_INIT("sep"),         STR_INIT("cls"),          STR_INIT("mask"),    STR_INIT("stop"),
    STR_INIT("per"),      STR_INIT("special"),     STR_INIT("cancellation"), STR_INIT("syntax"),  STR_INIT("cache"),
    STR_INIT("sync"),     STR_INIT("prompt"),      STR_INIT("primary"),      STR_INIT("foreign"), STR_INIT("partition"),
    STR_INIT("sort"),     STR_INIT("idempotency"), STR_INIT("dedup"),        STR_INIT("hash"),    STR_INIT("lookup"),
    STR_INIT("object"),   STR_INIT("gpg"),         STR_INIT("pgp"),          STR_INIT("input"),   STR_INIT("output"),
    STR_INIT("starting"), STR_INIT("client"),      STR_INIT("publickey"),
};

/* A name, reversed, in lower case, without separators between its words; at[] is the position of each byte. */
struct name {
  char text[NAME_BYTES];
  size_t at[NAME_BYTES], n;
};

static bool is_name_byte(char c) { return redact_in(c, IN_ALNUM) || (unsigned char)c >= 0x80; }

/* Reads backwards over at most two blanks: "the API key". */
static void read_name(struct str text, size_t end, struct name *ret) {
  size_t blanks = 0;
  for (size_t i = end; i > 0 && end - i < NAME_BYTES; i--) {
    char c = text.p[i - 1];
    blanks += c == ' ';
    bool elision = c == '\'' && i > 1 && i < end && is_name_byte(text.p[i - 2]) && is_name_byte(text.p[i]);
    if (blanks > 2 || !(is_name_byte(c) || redact_in(c, IN_UNDERSCORE | IN_DASH | IN_DOT) || c == ' ' || elision))
      return;
    if (!is_name_byte(c))
      continue;
    ret->text[ret->n] = ascii_lower(c);
    ret->at[ret->n++] = i - 1;
  }
}

/* True if the name without its last `skip` bytes ends with the word. */
static bool ends_with(const struct name *name, size_t skip, struct str word) {
  if (name->n < skip + word.n)
    return false;
  for (size_t i = 0; i < word.n; i++)
    if (name->text[skip + i] != word.p[word.n - 1 - i])
      return false;
  return true;
}

/* True if byte k of the name starts a word: after a separator or a digit, or inside camelCase. */
static bool is_word_start(struct str text, const struct name *name, size_t k) {
  assert(k < name->n);
  size_t at = name->at[k];
  if (at == 0 || !ascii_alpha(text.p[at - 1]))
    return true;
  return ascii_upper(text.p[at]) && !ascii_upper(text.p[at - 1]);
}

static bool has_word_before(struct str text, const struct name *name, size_t skip, struct str word) {
  return ends_with(name, skip, word) && is_word_start(text, name, skip + word.n - 1);
}

static bool is_harmless(struct str text, const struct name *name, struct str secret) {
  if (has_word_before(text, name, secret.n, STR("public")) || has_word_before(text, name, secret.n, STR("publishable")))
    return true;
  if (!str_is(secret, "token") && !str_is(secret, "key"))
    return false;
  for (size_t i = 0; i < ARRAY_LEN(harmless_words); i++)
    if (has_word_before(text, name, secret.n, harmless_words[i]))
      return true;
  return false;
}

/* True if the last n bytes of the name are one word, without separators inside. */
static bool is_whole_word(struct str text, const struct name *name, size_t n) {
  if (n == 0 || n > name->n)
    return false;
  return name->at[0] - name->at[n - 1] == n - 1 && is_word_start(text, name, n - 1);
}

static const struct secret_word *longest_word(struct str text, const struct name *name) {
  const struct secret_word *found = NULL;
  for (size_t i = 0; i < ARRAY_LEN(secret_words); i++) {
    const struct secret_word *w = &secret_words[i];
    if (found && w->word.n <= found->word.n)
      continue;
    if (!ends_with(name, 0, w->word) || (w->flags & WHOLE && !is_whole_word(text, name, w->word.n)))
      continue;
    found = w;
  }
  return found;
}

unsigned redact_name_flags(struct str text, size_t end, size_t *ret_start) {
  /* Last letters of all secret words: rejects most names quickly. */
  static const char lasts[] = "dewtanyksliopu";
  if (end == 0)
    return 0;
  char last = ascii_lower(text.p[end - 1]);
  if ((unsigned char)last < 0x80 && !(last && strchr(lasts, last)))
    return 0;
  struct name name = {0};
  read_name(text, end, &name);
  const struct secret_word *w = longest_word(text, &name);
  if (!w || is_harmless(text, &name, w->word))
    return 0;
  /* Start of the last word of the name: DB_PASSWORD, not "the DB_PASSWORD". */
  size_t start = end;
  while (start > 0 && end - start < NAME_RUN && redact_in(text.p[start - 1], IN_WORD | IN_DASH | IN_DOT))
    start--;
  /* The n of a \n in JSON is not part of the name. */
  if (start > 0 && text.p[start - 1] == '\\' && end - start > 1)
    start++;
  if (redact_has_word_before(text, start))
    return 0;
  *ret_start = start;
  /* "PASS: 12 tests" is not a password, DB_PASS is. */
  if (end - start == 4 && w->word.n == 4)
    return NAME_SECRET;
  return w->flags & ~(unsigned)WHOLE;
}
