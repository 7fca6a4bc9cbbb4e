package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// encoders are the ways in which a secret may be written down.
var encoders = map[string]func(string) string{
	"raw":               func(s string) string { return s },
	"base64 std":        func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 url":        func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"base64 raw":        func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64 behind one": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u" + s + "\n")) },
	"base64 behind two": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + s + "xy")) },
	"basic auth":        func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) },
	"query":             url.QueryEscape,
	"path":              url.PathEscape,
	"percent upper":     func(s string) string { return each(s, "%%%02X") },
	"percent lower":     func(s string) string { return each(s, "%%%02x") },
	"base32":            func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	"base32 behind":     func(s string) string { return base32.StdEncoding.EncodeToString([]byte("key=" + s + "\n")) },
	"base32 in lines": func(s string) string {
		return wrap(base32.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 30)+s+" ")), 64, "\n")
	},
	"base64 twice in lines": func(s string) string { return wrap(base64twice(strings.Repeat("x", 40)+s+" "), 76, "\n") },
	"base64 twice":          func(s string) string { return base64twice(s) },
	"base64 twice behind":   func(s string) string { return base64twice("a" + s + " ") },
	"base64 twice later":    func(s string) string { return base64twice("ab" + s + "\n") },
	"reversed":              reversed,
	"hex":                   func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex upper":             func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"hex escapes":           func(s string) string { return each(s, `\x%02x`) },
	"octal escapes":         func(s string) string { return each(s, `\%03o`) },
	"JSON":                  func(s string) string { return inJSON(s, true) },
	"JSON plain":            func(s string) string { return inJSON(s, false) },
	"JSON ASCII":            func(s string) string { return strings.Trim(strconv.QuoteToASCII(s), `"`) },
	"JSON units":            units,
	"JSON slash":            func(s string) string { return strings.ReplaceAll(inJSON(s, false), "/", `\/`) },
	"JSON in JSON":          func(s string) string { return inJSON(inJSON(s, true), true) },
	"JSON thrice":           func(s string) string { return inJSON(inJSON(inJSON(s, true), true), true) },
	"Go":                    func(s string) string { return strconv.Quote(s) },
	"shell":                 func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
	"HTML":                  html.EscapeString,
	"base64 in a query":     func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"query in JSON":         func(s string) string { return inJSON(url.QueryEscape(s), true) },
	"base64 in lines":       func(s string) string { return wrap(base64.StdEncoding.EncodeToString([]byte("--"+s+"--")), 19, "\n") },
	"base64 in CR lines":    func(s string) string { return wrap(base64.StdEncoding.EncodeToString([]byte(s)), 9, "\r\n") },
	"hex in lines":          func(s string) string { return wrap(hex.EncodeToString([]byte(s)), 15, "\n") },
	"lines in JSON":         func(s string) string { return inJSON(wrap(s, 11, "\n"), true) },
	"in lines":              func(s string) string { return wrap(s, 13, "\n") },
}

func base64twice(s string) string {
	return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s))))
}

func each(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

// units is JSON in which every character is escaped.
func units(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		} else {
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String()
}

func wrap(s string, width int, end string) string {
	var b strings.Builder
	for len(s) > width {
		n := width
		for !utf8.RuneStart(s[n]) {
			n--
		}
		b.WriteString(s[:n] + end)
		s = s[n:]
	}
	return b.String() + s
}

// TestRedactForms: a secret is found in every form, in the middle of any text,
// and what stands around it stays.
func TestRedactForms(t *testing.T) {
	for _, secret := range []string{
		"canary-0123456789abcdef", "p&ss w<rd/+=\"q\\uote'", "käse-schlüssel-😀-42", `tricky%41\n&amp;+x`, "postgres://u:p%40ss@h/db?x=1",
	} {
		var r Redactor
		r.Add(secret)
		for name, encode := range encoders {
			if name == "lines in JSON" && strings.HasPrefix(secret, "tricky") {
				continue // what is undone of the break is undone of the secret too
			}
			text := "before " + encode(secret) + " after"
			got := r.Redact(text)
			if !strings.Contains(got, Hidden) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%s of %q: %q became %q", name, secret, text, got)
			}
			if leaked(got, secret) {
				t.Errorf("%s of %q leaks: %q", name, secret, got)
			}
			if twice := r.Redact(got); twice != got {
				t.Errorf("%s of %q: redacted again it is %q", name, secret, twice)
			}
		}
	}
}

// leaked reports whether a good part of a secret can be read out of a text.
func leaked(text, secret string) bool {
	flat := strings.NewReplacer("\n", "", "\r", "", `\n`, "").Replace(text)
	for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret))} {
		for i := 0; i+12 <= len(form); i++ {
			if strings.Contains(flat, form[i:i+12]) {
				return true
			}
		}
	}
	return false
}

// TestRedactLeavesTheRest: what is no secret stays to the byte.
func TestRedactLeavesTheRest(t *testing.T) {
	var r Redactor
	r.Add("short")         // none
	r.Add("hunter2hunter") // one
	for _, text := range []string{
		"", "\\", "%", "&", "\\u12", "%4", "&amp", "short hunter2hunte", "hunter2\nhunter", "a%41b\\n&lt;c", "\\ud83d alone \\udc00",
		"the task-list-with-a-very-long-name-123456 is sk-fading-circle-container", "AKIAshort AKIA0123456789ABCDEF0123 xAKIA0123456789ABCDEF",
		"ghp_tooshort xoxb-abc github_pat_short", `strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----")`,
		"-----BEGIN CERTIFICATE-----\n" + strings.Repeat("MIIBabcd", 8) + "\n-----END CERTIFICATE-----",
	} {
		if got := r.Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if got := pieces(&r, strings.Split(text, "")); got != text {
			t.Errorf("%q in pieces became %q", text, got)
		}
	}
}

// TestRedactKeys: keys of well-known kinds that nobody told of.
func TestRedactKeys(t *testing.T) {
	body := wrap(strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 12), 64, "\n")
	pem := "-----BEGIN PRIVATE KEY-----\n" + body + "\n-----END PRIVATE KEY-----"
	old := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C\n\n" + body + "\n-----END RSA PRIVATE KEY-----"
	var r Redactor
	for _, key := range []string{
		"AKIA0123456789ABCDEF", "ASIA0123456789ABCDEF", "ghp_" + strings.Repeat("a1", 18), "github_pat_11AAAAAAA0" + strings.Repeat("x", 60),
		"sk-" + strings.Repeat("aB3", 16), "sk-ant-api03-" + strings.Repeat("x_-9", 20), "xoxb-123456789012-abcdefGHIJ", pem, old,
		strings.ReplaceAll(pem, "PRIVATE", "OPENSSH PRIVATE"),
	} {
		for name, encode := range map[string]func(string) string{"raw": encoders["raw"], "JSON": encoders["JSON"], "JSON in JSON": encoders["JSON in JSON"], "percent": encoders["percent lower"]} {
			text := `{"k":"` + encode(key) + `","n":1}`
			if got, want := r.Redact(text), `{"k":"`+Hidden+`","n":1}`; got != want {
				t.Errorf("%s of %.30q became %q", name, key, got)
			}
		}
		if got := r.Redact(key); got != Hidden {
			t.Errorf("%.30q alone became %q", key, got)
		}
		if got := pieces(&r, strings.Split("a "+key, "")); got != "a "+Hidden {
			t.Errorf("%.30q byte by byte became %q", key, got)
		}
	}
}

// TestRedactLinesOfKey: each line of a secret of several counts by itself.
func TestRedactLinesOfKey(t *testing.T) {
	var r Redactor
	r.Add("-----BEGIN X-----\nMIIEpAIBAAKCAQEAx1\nc3Rvcnktb2YtYS1rZXk\n-----END X-----\n")
	if got := r.Redact("  2  c3Rvcnktb2YtYS1rZXk |"); got != "  2  "+Hidden+" |" {
		t.Errorf("%q", got)
	}
}

// TestRedactLongSecret: one that is looked for in parts is hidden whole.
func TestRedactLongSecret(t *testing.T) {
	var r Redactor
	secret := strings.Repeat("0123456789-abcdefgh ", 1000)
	r.Add(secret)
	if got := strings.ReplaceAll(r.Redact("a "+secret+" b"), Hidden, ""); got != "a  b" {
		t.Errorf("left: %.200q", got)
	}
}

func pieces(r *Redactor, parts []string) string {
	s := r.Stream()
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(s.Write(p))
	}
	return b.String() + s.End()
}

// TestStreamIsRedact: however a text is cut, the pieces give what the whole
// gives.
func TestStreamIsRedact(t *testing.T) {
	var r Redactor
	known := []string{"canary-0123456789abcdef", `q"uo\te<d>`, "aaaaaaaa", "aaaaaaab", "canary-0123", "0123456789abcdefgh"}
	for _, s := range known {
		r.Add(s)
	}
	names := make([]string, 0, len(encoders))
	for name := range encoders {
		names = append(names, name)
	}
	filler := rapid.SampledFrom([]string{"", " ", "a", "aaaa", "\\", "%", "%2", "&a", "\\u00", "\n", "\r\n", "\\\\", "word ", "sk-", "ghp_", "AKIA", "0123456789", "ABCDEF", "-----BEGIN RSA PRIVATE KEY-----", strings.Repeat("Zz9+", 20), "-----END ", "-----"})
	rapid.Check(t, func(t *rapid.T) {
		var text string
		for range rapid.IntRange(1, 12).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "filler") {
				text += filler.Draw(t, "text")
				continue
			}
			s := encoders[rapid.SampledFrom(names).Draw(t, "encoder")](rapid.SampledFrom(known).Draw(t, "secret"))
			from := rapid.IntRange(0, len(s)).Draw(t, "from")
			text += s[rapid.SampledFrom([]int{0, from}).Draw(t, "cut"):]
		}
		var parts []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "piece")
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		whole := r.Redact(text)
		if got := pieces(&r, parts); got != whole {
			t.Fatalf("%q in %q\nis    %q\nnot   %q", text, parts, got, whole)
		}
		if again := r.Redact(whole); strings.Count(again, Hidden) < strings.Count(whole, Hidden) {
			t.Fatalf("%q redacted again is %q", whole, again)
		}
	})
}

// TestAnySecretAnyForm: whatever a secret is made of.
func TestAnySecretAnyForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringOfN(rapid.RuneFrom([]rune(`abcXYZ019 %&;\/"'<>+=-_~!`+"äß😀\t\n")), 16, 40, -1).Draw(t, "secret")
		var r Redactor
		r.Add(secret)
		for _, name := range []string{"raw", "base64 behind one", "base64 url", "query", "path", "percent lower", "JSON", "JSON plain", "JSON units", "hex", "hex in lines"} {
			if got := r.Redact("x" + encoders[name](secret) + "y"); !strings.Contains(got, Hidden) {
				t.Fatalf("%s of %q is left: %q", name, secret, got)
			}
		}
	})
}

// TestStreamHoldsNoLine: what ends a short line is passed on with it, however many
// forms the tokens of the daemon have.
func TestStreamHoldsNoLine(t *testing.T) {
	var r Redactor
	for i := range 100 {
		sum := sha256.Sum256([]byte{byte(i)})
		r.Add(hex.EncodeToString(sum[:]))
	}
	s := r.Stream()
	for _, line := range []string{"begin\n", "so it is\n", strings.Repeat("a long line ", 20) + "that is done\n", "a run\n"} {
		if got := s.Write(line); got != line && len(line) < wide {
			t.Errorf("%q of %q was passed on", got, line)
		}
		s.Write("go on ")
	}
}

// TestStreamLearns: a value that is added while a text is on its way is hidden
// from there on, what is held included.
func TestStreamLearns(t *testing.T) {
	var r Redactor
	r.Add("first-secret")
	s := r.Stream()
	got := s.Write("a first-sec") + s.Write("ret b second")
	r.Add("second-secret")
	got += s.Write("-secret c second-sec") + s.Write("ret d") + s.End()
	if want := "a [secret] b second-secret c [secret] d"; got != want {
		t.Errorf("got %q", got)
	}
}

// TestRedactJSON: what comes out is JSON, and nothing but texts with secrets differs.
func TestRedactJSON(t *testing.T) {
	var r Redactor
	for _, s := range []string{"1234567890", `q"uoted\secret`, "plain-secret"} {
		r.Add(s)
	}
	inner, _ := json.Marshal(map[string]any{"pin": 1234567890, "k": `q"uoted\secret`})
	raw, _ := json.Marshal(map[string]any{"n": 1234567890, "m": 7, "plain-secret": 1, "args": string(inner), "t": `a q"uoted\secret b`, "big": json.Number("12345678901234567890")})
	got := r.JSON(raw)
	want := `{"[secret]":1,"args":"{\"k\":\"[secret]\",\"pin\":\"[secret]\"}","big":"[secret]","m":7,"n":"[secret]","t":"a [secret] b"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	clean := json.RawMessage(`{"b": 1, "a":"x"}`)
	if got := r.JSON(clean); !bytes.Equal(got, clean) {
		t.Errorf("%s became %s", clean, got)
	}
	r.Add(`{"type":"service","key":"x"}`)
	for text, want := range map[string]string{
		`{"a":1,"b":{"type":"service","key":"x"}}`:                               `{"a":1,"b":"[secret]"}`,
		`[{"type":"service","key":"x"}, 2]`:                                      `["[secret]",2]`,
		`{"type":"service","key":"x"}`:                                           `"[secret]"`,
		`no JSON, plain-secret`:                                                  `"[secret]"`,
		strings.Repeat("[", 5000) + `"plain-secret"` + strings.Repeat("]", 5000): strings.Repeat("[", deepest) + `"[secret]"` + strings.Repeat("]", deepest),
	} {
		if got := r.JSON(json.RawMessage(text)); string(got) != want {
			t.Errorf("%.100s became %.200s", text, got)
		}
	}
}

// BenchmarkRedactGrowth reports how much more eight times the text costs, also
// where secrets nearly stand: about 8 when the work is linear.
func BenchmarkRedactGrowth(b *testing.B) {
	var r Redactor
	r.Add(strings.Repeat("ab", 200) + "c")
	r.Add(strings.Repeat(`\`, 100) + "c")
	for name, unit := range map[string]string{"nearly": "abababababababab", "escapes": `\\\\\u0061%61&#97;`, "breaks": "ab\n", "hits": strings.Repeat("ab", 200) + "c", "key": "-----BEGIN "} {
		b.Run(name, func(b *testing.B) {
			small, large := strings.Repeat(unit, (64<<10)/len(unit)), strings.Repeat(unit, (512<<10)/len(unit))
			short, long := time.Hour, time.Hour
			for b.Loop() { // a busy machine only adds to either
				begin := time.Now()
				r.Redact(small)
				middle := time.Now()
				r.Redact(large)
				short, long = min(short, middle.Sub(begin)), min(long, time.Since(middle))
			}
			b.ReportMetric(float64(long)/float64(short), "x-of-8")
		})
	}
}

// TestWriterHoldsLines: a log that is written byte by byte.
func TestWriterHoldsLines(t *testing.T) {
	var r Redactor
	r.Add("sk-live/abc+\"def\"==")
	var out strings.Builder
	w := r.Writer(&out)
	for _, line := range []string{`sk-live/abc+"def"==`, `{"key":"sk-live/abc+\"def\"=="}`, "c2stbGl2ZS9hYmMrImRlZiI9PQ==", "sk-live%2Fabc%2B%22def%22%3D%3D"} {
		for _, b := range []byte("before " + line + " after\n") {
			if _, err := w.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := out.String(), "before [secret] after\nbefore {\"key\":\"[secret]\"} after\nbefore [secret]== after\nbefore [secret] after\n"; got != want {
		t.Errorf("wrote %q", got)
	}
}

func FuzzStream(f *testing.F) {
	f.Add("x canary-0123456789abcdef y", 3)
	f.Add(`\u0063anary-0123456789abcdef%63&#99;`, 1)
	var r Redactor
	r.Add("canary-0123456789abcdef")
	r.Add(`c"\%41`)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 1 || len(text) > 4096 {
			return
		}
		var parts []string
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		if got, want := pieces(&r, parts), r.Redact(text); got != want {
			t.Errorf("%q in pieces of %d is %q and not %q", text, size, got, want)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	var r Redactor
	for i := range 20 {
		r.Add(fmt.Sprintf("sk-live-%d-%s", i, hex.EncodeToString(bytes.Repeat([]byte{byte(i * 7)}, 20))))
	}
	code := strings.Repeat("func (s *Store) Commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error) {\n\treturn s.update(ctx, c)\n}\n", 1<<20/100)
	quoted := inJSON(code, true)
	for name, text := range map[string]string{"code": code, "JSON": quoted, "base64": base64.StdEncoding.EncodeToString([]byte(code))} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Redact(text)
			}
		})
	}
}
