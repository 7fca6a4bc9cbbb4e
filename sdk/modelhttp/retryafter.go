package modelhttp

import (
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a server may ask for; the host caps it further.
const maxRetryAfter = 24 * time.Hour

var tryAgainIn = regexp.MustCompile(`(?i)try again in ((?:\d+(?:\.\d+)?(?:ms|s|m|h))+)`)

// retryAfter reads how long the server wants to be left alone, from the most
// exact source it gives: retry-after-ms, Retry-After (RFC 9110 section 10.2.3:
// seconds or a date), the reset of the limit that is used up, its own words. 0
// is unknown.
func retryAfter(h http.Header, d details) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms / 1000)
	}
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			return bounded(s)
		}
		if at, err := http.ParseTime(v); err == nil {
			return bounded(time.Until(at).Seconds())
		}
	}
	if wait := resetOf(h); wait > 0 {
		return wait
	}
	if wait := parseReset(d.reset); wait > 0 {
		return wait
	}
	if m := tryAgainIn.FindStringSubmatch(d.message); m != nil {
		return parseReset(m[1])
	}
	return 0
}

// resetOf takes the reset of a limit that has nothing remaining, else the
// longest that is told. Anthropic tells its limits with every answer, so that
// only those that are used up mean anything there.
func resetOf(h http.Header) time.Duration {
	var used, longest time.Duration
	for _, unit := range []string{"-Requests", "-Tokens", ""} {
		wait := parseReset(h.Get("X-Ratelimit-Reset" + unit))
		longest = max(longest, wait)
		if h.Get("X-Ratelimit-Remaining"+unit) == "0" {
			used = max(used, wait)
		}
	}
	for _, unit := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		if h.Get("Anthropic-Ratelimit-"+unit+"-Remaining") == "0" {
			used = max(used, parseReset(h.Get("Anthropic-Ratelimit-"+unit+"-Reset")))
		}
	}
	if used > 0 {
		return used
	}
	return longest
}

// parseReset reads "1s", "6m0s", "59.7s", seconds, a Unix time in seconds or
// milliseconds, or a time of RFC 3339.
func parseReset(s string) time.Duration {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case n > 1e12:
			return bounded(n/1000 - float64(time.Now().UnixMilli())/1000)
		case n > 1e9:
			return bounded(n - float64(time.Now().Unix()))
		}
		return bounded(n)
	}
	if d, err := time.ParseDuration(s); err == nil {
		return bounded(d.Seconds())
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return bounded(time.Until(at).Seconds())
	}
	return 0
}

func bounded(seconds float64) time.Duration {
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
}
