package modelhttp

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func fail(status int, header map[string]string, body string) *sdk.ProviderError {
	h := http.Header{}
	for k, v := range header {
		h.Set(k, v)
	}
	return redactor{}.failure("http://host", status, h, []byte(body))
}

func TestNotOverflow(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   sdk.FailureClass
	}{
		{413, `{"error":{"message":"Request too large for model on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce the length of the messages","code":"rate_limit_exceeded"}}`, sdk.ClassNever},
		{429, `{"message":"Too many tokens, please wait before trying again."}`, sdk.ClassRateLimit},
		{401, ``, sdk.ClassNever},
		{400, `{"error":{"message":"max_tokens is too large: 999999"}}`, sdk.ClassNever},
	} {
		if e := fail(c.status, nil, c.body); e.Class != c.want {
			t.Errorf("%d %s became %+v", c.status, c.body, *e)
		}
	}
}

// TestClasses has what golden files do not: other words, other numbers, and errors
// without a status.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		status int
		header map[string]string
		body   string
		want   sdk.FailureClass
	}{
		{429, nil, ``, sdk.ClassRateLimit},
		{501, nil, `{}`, sdk.ClassNever},
		{503, nil, `{"error":"Model meta/llama is currently loading","estimated_time":20.0}`, sdk.ClassWarmUp},
		{522, nil, `{}`, sdk.ClassGateway},
		{429, map[string]string{"X-Should-Retry": "true"}, `{"error":{"code":"insufficient_quota"}}`, sdk.ClassNever},
		{0, nil, `{"error":{"code":502,"message":"gone"}}`, sdk.ClassGateway},
		{0, nil, `{"error":{"code":"429","message":"x"}}`, sdk.ClassRateLimit},
		{0, nil, `{"error":{"type":"overloaded_error"}}`, sdk.ClassServer},
		{0, nil, `{"error":{"type":"rate_limit_error"}}`, sdk.ClassRateLimit},
		{0, nil, `{"error":{"type":"invalid_request_error"}}`, sdk.ClassNever},
		{0, nil, `{"error":"it broke"}`, sdk.ClassServer},
		{0, nil, `{"error":{"type":"billing_error"}}`, sdk.ClassNever},
		{0, nil, `{"error":{"type":"request_too_large"}}`, sdk.ClassNever},
		{307, nil, ``, sdk.ClassNever},
	} {
		if e := fail(c.status, c.header, c.body); e.Class != c.want {
			t.Errorf("%d %v %s became %+v, want %s", c.status, c.header, c.body, *e, c.want)
		}
	}
}

func TestNoTools(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: …","code":404}}`,
		`{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}`,
		`{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`,
		"{\"error\":{\"message\":\"`tool calling` is not supported with this model\"}}",
	} {
		if e := fail(400, nil, body); !e.NoTools || e.Class != sdk.ClassNever || !strings.Contains(e.Message, "bothy models") {
			t.Errorf("%s became %+v", body, *e)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	soon := time.Now().Add(90 * time.Second)
	for _, c := range []struct {
		name     string
		header   map[string]string
		body     string
		min, max time.Duration
	}{
		{"nothing", nil, `{}`, 0, 0},
		{"milliseconds", map[string]string{"Retry-After-Ms": "1500", "Retry-After": "60"}, ``, 1500 * time.Millisecond, 1500 * time.Millisecond},
		{"seconds", map[string]string{"Retry-After": "20"}, ``, 20 * time.Second, 20 * time.Second},
		{"parts of a second", map[string]string{"Retry-After": "0.5"}, ``, 500 * time.Millisecond, 500 * time.Millisecond},
		{"date", map[string]string{"Retry-After": soon.UTC().Format(http.TimeFormat)}, ``, 85 * time.Second, 91 * time.Second},
		{"date that has passed", map[string]string{"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, ``, 0, 0},
		{"negative", map[string]string{"Retry-After": "-5"}, ``, 0, 0},
		{"not a number", map[string]string{"Retry-After": "NaN"}, ``, 0, 0},
		{"a year", map[string]string{"Retry-After": "31536000"}, ``, maxRetryAfter, maxRetryAfter},
		{"the limit that is used up", map[string]string{"x-ratelimit-reset-requests": "1s", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "9"}, ``, time.Second, time.Second},
		{"the longest when none says so", map[string]string{"x-ratelimit-reset-requests": "59.5s", "x-ratelimit-reset-tokens": "120ms"}, ``, 59500 * time.Millisecond, 59500 * time.Millisecond},
		{"Anthropic's limit that is used up", map[string]string{"anthropic-ratelimit-requests-remaining": "49", "anthropic-ratelimit-requests-reset": soon.Add(time.Hour).UTC().Format(time.RFC3339), "anthropic-ratelimit-input-tokens-remaining": "0", "anthropic-ratelimit-input-tokens-reset": soon.UTC().Format(time.RFC3339)}, ``, 85 * time.Second, 91 * time.Second},
		{"Anthropic's limits with room left", map[string]string{"anthropic-ratelimit-tokens-remaining": "1000", "anthropic-ratelimit-tokens-reset": soon.UTC().Format(time.RFC3339)}, ``, 0, 0},
		{"a Unix time in milliseconds", map[string]string{"X-RateLimit-Reset": itoa(soon.UnixMilli())}, ``, 85 * time.Second, 91 * time.Second},
		{"among the metadata", nil, `{"error":{"message":"x","code":429,"metadata":{"headers":{"X-RateLimit-Reset":"` + itoa(soon.UnixMilli()) + `"}}}}`, 85 * time.Second, 91 * time.Second},
		{"in words", nil, `{"error":{"message":"Rate limit reached. Please try again in 1m7.66s. Visit …"}}`, 67660 * time.Millisecond, 67660 * time.Millisecond},
	} {
		if e := fail(429, c.header, c.body); e.RetryAfter < c.min || e.RetryAfter > c.max {
			t.Errorf("%s: %s, want %s to %s", c.name, e.RetryAfter, c.min, c.max)
		}
	}
	if e := fail(401, map[string]string{"Retry-After": "5"}, ``); e.RetryAfter != 0 {
		t.Error("what cannot be retried has no time to wait")
	}
}

func TestMessagesSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		words  []string
	}{
		{401, `{"error":{"message":"Incorrect API key provided."}}`, []string{"http://host", "Incorrect API key", "api_key"}},
		{402, `{}`, []string{"no credit"}},
		{404, `{"error":{"message":"The model x does not exist"}}`, []string{"does not exist", "bothy models"}},
		{502, `<html><body>nginx</body></html>`, []string{"bad gateway"}},
		{500, ``, []string{"internal server error"}},
		{500, "\x1b[31mred\x1b[0m\x00\u202e", []string{"[31mred[0m"}},
	} {
		e := fail(c.status, nil, c.body)
		for _, w := range c.words {
			if !strings.Contains(e.Message, w) {
				t.Errorf("%d: %q lacks %q", c.status, e.Message, w)
			}
		}
		if strings.ContainsAny(e.Message, "\x00\x1b\u202e") || strings.Contains(e.Message, "<html>") {
			t.Errorf("%d: %q holds what is not for people", c.status, e.Message)
		}
	}
	if e := fail(500, nil, strings.Repeat("ä", 50000)); len(e.Message) > maxMessage+100 {
		t.Errorf("a message of %d bytes", len(e.Message))
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func FuzzFailure(f *testing.F) {
	f.Add(400, `{"error":{"message":"x","code":1e999}}`)
	f.Add(0, `[[[[[[[[{"error":"{\"error\":{}}"}]]]]]]]]`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		base, err := url.Parse("http://host")
		if err != nil {
			t.Fatal(err)
		}
		r := newRedactor(Options{Key: "sk-secret-0123456789"}, base)
		e := r.failure("http://host", status, http.Header{}, []byte(body))
		if e.Message == "" || e.Class == "" || strings.Contains(e.Message, "sk-secret-0123456789") {
			t.Errorf("%q became %+v", body, *e)
		}
	})
}
