package modelhttp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// details are what an error body says, in whichever of its shapes: OpenAI's
// {"error":{"message","type","code"}}, a bare string, FastAPI's {"detail"},
// a list, JSON wrapped in a string (Ollama), an upstream's raw error inside of
// metadata (OpenRouter).
type details struct {
	message string
	words   []string // message, codes and types, nested ones too: what classes are read from
	status  int      // a numeric code that is an HTTP status
	reset   string   // a reset time among the metadata's headers
}

const maxErrorDepth = 12

func readDetails(body []byte) details {
	var d details
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		d.message = string(body)
		if strings.HasPrefix(strings.TrimSpace(d.message), "<") { // a proxy's HTML page tells nobody anything
			d.message = ""
		}
		d.words = []string{string(body)}
		return d
	}
	d.walk(v, 0)
	return d
}

func (d *details) walk(v any, depth int) {
	if depth > maxErrorDepth {
		return
	}
	switch v := v.(type) {
	case string:
		var nested any
		if strings.HasPrefix(strings.TrimSpace(v), "{") && json.Unmarshal([]byte(v), &nested) == nil {
			d.walk(nested, depth+1)
			return
		}
		d.say(v)
	case []any:
		for _, item := range v {
			d.walk(item, depth+1)
		}
	case map[string]any:
		d.walkObject(v, depth)
	}
}

func (d *details) walkObject(v map[string]any, depth int) {
	for _, name := range []string{"error", "message", "msg", "detail", "details", "errors", "raw"} {
		if inner, ok := v[name]; ok {
			d.walk(inner, depth+1)
		}
	}
	for _, name := range []string{"code", "type", "status", "error_code", "reason"} {
		switch code := v[name].(type) {
		case string:
			d.words = append(d.words, code)
			if n, err := strconv.Atoi(code); err == nil {
				d.setStatus(n)
			}
		case float64:
			d.setStatus(int(code))
		}
	}
	if location, ok := v["loc"].([]any); ok { // FastAPI names the field beside the message
		d.say("in " + strings.Trim(fmt.Sprint(location), "[]"))
	}
	if field, ok := v["param"].(string); ok && field != "" && !strings.Contains(d.message, field) {
		d.say("in " + field)
	}
	if meta, ok := v["metadata"].(map[string]any); ok {
		d.walk(meta, depth+1)
		if headers, ok := meta["headers"].(map[string]any); ok {
			d.reset, _ = headers["X-RateLimit-Reset"].(string)
		}
	}
}

func (d *details) setStatus(n int) {
	if d.status == 0 && n >= 400 && n < 600 {
		d.status = n
	}
}

// say takes a sentence; the most specific one, which lies deepest, is not
// always the best, so that a generic first one gets the rest behind it.
func (d *details) say(s string) {
	s = strings.TrimSpace(s)
	if s == "" {
		return
	}
	d.words = append(d.words, s)
	switch {
	case d.message == "":
		d.message = s
	case !strings.Contains(d.message, s):
		d.message += ": " + s
	}
}

var (
	money = regexp.MustCompile(`(?i)insufficient_quota|insufficient[ _](?:balance|credits?|funds)|credit_balance_exhausted|credit balance is too low|exceeded your current quota|billing_hard_limit|billing_not_active|billing_error|enforced_spend_limit|spend(?:ing)?[ _]limit|payment required|requires more credits|out of credits`)

	noTools = regexp.MustCompile(`(?i)does not support (?:tools|tool|function)|no endpoints found that support tool|tool choice requires --enable-auto-tool-choice|tools param requires --jinja|tool calling.{0,20} is not supported|(?:tools|tool use|function calling) (?:is|are) not supported`)

	warmUp = regexp.MustCompile(`(?i)loading model|model is (?:still |currently )?loading|is currently loading|warming up|model is starting`)

	rateWords = regexp.MustCompile(`(?i)rate[_ ]?limit|too[_ ]many[_ ]requests|slow_down|throttl|tokens per (?:minute|day)|requests per (?:minute|day)`)

	invalidWords = regexp.MustCompile(`(?i)invalid_request|invalid_prompt|bad_?request|authentication|permission|not_found|unsupported|content_policy|request_too_large`)
)

// failure classifies a server's failure by what it said and its status. Status
// 0 is an error object inside of an answer that began well.
func (r redactor) failure(host string, status int, header http.Header, body []byte) *sdk.ProviderError {
	d := readDetails(body)
	if status == 0 {
		status = d.status
	}
	words := strings.Join(d.words, "\n")
	e := &sdk.ProviderError{Status: status, Class: classOf(status)}
	switch {
	case money.MatchString(words) || status == http.StatusPaymentRequired:
		e.Class = sdk.ClassNever
	case noTools.MatchString(words):
		e.Class, e.NoTools = sdk.ClassNever, true
	case Overflow(status, words, len(strings.TrimSpace(string(body))) == 0):
		e.Class = sdk.ClassOverflow
	case warmUp.MatchString(words) && (status == 0 || status >= 500):
		e.Class = sdk.ClassWarmUp
	case status == 0:
		e.Class = classOfWords(words)
	default:
		e.Class = overridden(e.Class, header.Get("X-Should-Retry"))
	}
	if e.Class != sdk.ClassNever && e.Class != sdk.ClassOverflow {
		e.RetryAfter = retryAfter(header, d)
	}
	e.Message = r.sentence(host, e, d)
	return e
}

// classOf is the table of statuses (408 and 409 pass with OpenAI and Anthropic).
func classOf(status int) sdk.FailureClass {
	switch status {
	case http.StatusTooManyRequests:
		return sdk.ClassRateLimit
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout, 520, 521, 522, 523, 524:
		return sdk.ClassGateway
	case http.StatusConflict, http.StatusInternalServerError, 529:
		return sdk.ClassServer
	default:
		return sdk.ClassNever
	}
}

// classOfWords is for an error inside of a stream that carries no number.
func classOfWords(words string) sdk.FailureClass {
	switch {
	case rateWords.MatchString(words):
		return sdk.ClassRateLimit
	case invalidWords.MatchString(words):
		return sdk.ClassNever
	default:
		return sdk.ClassServer
	}
}

// overridden follows x-should-retry, with which OpenAI and Anthropic tell their
// own clients what the status does not.
func overridden(class sdk.FailureClass, should string) sdk.FailureClass {
	switch {
	case should == "false":
		return sdk.ClassNever
	case should == "true" && class == sdk.ClassNever:
		return sdk.ClassServer
	default:
		return class
	}
}

// sentence says what is wrong and what to do next.
func (r redactor) sentence(host string, e *sdk.ProviderError, d details) string {
	said := cmp.Or(strings.TrimRight(r.clean(d.message), "."), strings.ToLower(http.StatusText(e.Status)), "no reason was given")
	hint := ""
	switch {
	case e.NoTools:
		hint = "choose a model that can call tools (`bothy models` lists them), or start the server with tool calls enabled"
	case e.Class == sdk.ClassOverflow:
		return fmt.Sprintf("the context is too long for the model at %s: %s", host, said)
	case e.Class == sdk.ClassWarmUp:
		return fmt.Sprintf("%s still loads the model: %s", host, said)
	case e.Class == sdk.ClassRateLimit:
		return fmt.Sprintf("%s limits the rate: %s", host, said)
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		hint = "check api_key in the provider's block; `bothy auth login` gives another key"
	case e.Status == http.StatusPaymentRequired || e.Status == http.StatusTooManyRequests:
		hint = "the account has no credit left or reached its spending limit; waiting does not help"
	case e.Status == http.StatusNotFound:
		hint = "check the model's name (`bothy models`) and base_url"
	case e.Status == http.StatusRequestEntityTooLarge:
		hint = "the request has too many bytes for the server"
	}
	if hint != "" {
		said += "; " + hint
	}
	return host + ": " + said
}
