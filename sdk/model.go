package sdk

import (
	"fmt"
	"time"
)

// Model is a model that a provider offers.
type Model struct {
	Provider  string   `json:"provider"` // the provider block's label; the host fills it in
	Name      string   `json:"name"`     // the provider's own name
	Context   int      `json:"context,omitempty"`
	MaxOutput int      `json:"max_output,omitempty"`
	Tools     *bool    `json:"tools,omitempty"` // nil is unknown
	Streaming bool     `json:"streaming"`
	Inputs    []string `json:"inputs,omitempty"` // "text", "image"; none is unknown, and the model is tried
	Price     *Price   `json:"price,omitempty"`
	// Remote is that the server, which may be one of this machine, hands what the model is told on to
	// another machine. Such a model is taken only where it is named.
	Remote bool `json:"remote,omitempty"`
}

// PullProgress is how far a model is that a provider gets onto its server.
type PullProgress struct {
	Status string `json:"status"`          // the server's own words
	Done   int64  `json:"done,omitempty"`  // bytes of the part that it is at
	Total  int64  `json:"total,omitempty"` // of that part; 0 is unknown
}

// Price is what a million tokens cost, in US dollars where a provider lists it, else in the
// currency in which the configuration writes it. None of it is negative. The tags hcl of this
// and other types are the attributes of their blocks there.
type Price struct {
	Prompt     float64  `json:"prompt" hcl:"prompt"`
	Cached     *float64 `json:"cached,omitempty" hcl:"cached"` // of a prompt, read from the provider's cache; nil is as Prompt
	Completion float64  `json:"completion" hcl:"completion"`
}

// Of is what a completion costs that used so much.
func (p Price) Of(u Usage) float64 {
	cached := p.Prompt
	if p.Cached != nil {
		cached = *p.Cached
	}
	fresh := max(u.Prompt-u.Cached, 0)
	return (float64(fresh)*p.Prompt + float64(min(u.Cached, u.Prompt))*cached + float64(u.Completion)*p.Completion) / 1e6
}

// Free reports whether nothing is paid, as for a model on one's own machine.
func (p Price) Free() bool {
	return p.Prompt == 0 && p.Completion == 0 && (p.Cached == nil || *p.Cached == 0)
}

// ModelChoice is a model that was found for a name.
type ModelChoice struct {
	Alias       string // what it is called from now on
	Provider    string
	Name        string   // the provider's own name
	Context     int      // tokens; 0 is unknown
	Tools       *bool    // whether it can call tools; nil is unknown
	Inputs      []string // as in Model; nil is unknown, or was not asked
	Temperature *float64
	Local       bool // nothing that it is told leaves this machine
	Remote      bool // its server hands what it is told on to another machine, wherever it runs itself
	// Fallback are the names of the models that answer in its place when it cannot, in order. One
	// that is local gives way to one that is not because its server does not answer only with
	// FallbackUnreachable.
	Fallback            []string
	FallbackUnreachable bool
	MaxTokens           int      // of an answer, as its block bounds it; 0 is not bounded there
	Price               *Price   // nil is unknown
	Why                 string   // one sentence: why this model; empty where it was named
	Instead             string   // the provider/name of the configuration that this one is taken for, as its server has not that one; else empty
	Able                []string // of one that cannot call tools: the aliases of its provider's that can
}

// FailureClass says what a provider's failure means for a retry.
type FailureClass string

// The classes; all but Never and Overflow may be tried again.
const (
	ClassWarmUp    FailureClass = "warm_up"    // the server is there and still loads the model
	ClassRateLimit FailureClass = "rate_limit" // 429 that passes with time
	ClassGateway   FailureClass = "gateway"    // connect, reset, 502, 503, 504
	ClassServer    FailureClass = "server"     // 500 and its like
	ClassOverflow  FailureClass = "overflow"   // the context is too long for the model
	ClassNever     FailureClass = "never"      // a retry cannot help: 400, 401, 402, 403, 404, ...
)

// Retry says that a completion failed and is about to be asked again.
type Retry struct {
	Class   FailureClass
	Wait    time.Duration // before the attempt
	Attempt int           // the one that follows; the first of all is 1
	Message string        // why the one before it failed
}

// ProviderError ends a completion. A provider never retries: the host decides.
type ProviderError struct {
	Class      FailureClass  `json:"class"`
	Message    string        `json:"message"` // for a person; without keys
	Status     int           `json:"status,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Streamed   bool          `json:"streamed"`           // whether any delta had been sent
	NoTools    bool          `json:"no_tools,omitempty"` // the model cannot call tools
	// Replay is set by the replay provider alone: the request did not match
	// its cassette. It is a mistake of use (exit 2), not a failed completion.
	Replay bool `json:"replay,omitempty"`
}

func (e *ProviderError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
	}
	return e.Message
}
