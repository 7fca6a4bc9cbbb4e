package webguard

import (
	"context"
	"net/http"
	"slices"
	"time"
)

const mostRedirects = 5

// hop is one request of a chain of redirects. It goes with the request's context, so
// that the next hop, whose http.Request has the answer to this one, finds it.
type hop struct {
	target judged
	count  int  // redirects before it
	left   bool // one of those was to another origin
	end    time.Time
	ctx    context.Context // over with the answer's body, or when the hop failed
}

type hopKey struct{}

// next judges a request and says what it is in its chain.
func (g *guard) next(req *http.Request) (*hop, error) {
	if req.URL == nil {
		return nil, failed(Malformed, "the request has no address")
	}
	if req.Response == nil {
		t, err := g.options.judge(req.URL)
		return &hop{target: t, end: time.Now().Add(g.limits.whole)}, err
	}
	var before *hop
	ok := false
	if earlier := req.Response.Request; earlier != nil {
		before, ok = earlier.Context().Value(hopKey{}).(*hop)
	}
	if !ok {
		return nil, denied(Redirect, "nobody knows from where this redirect comes")
	}
	t, err := g.redirected(req, before)
	return &hop{target: t, count: before.count + 1, left: before.left || t.origin != before.target.origin, end: before.end}, err
}

// redirected judges an address that a server chose. It opens nothing: an origin or a
// port of the options is reached from within the same origin only.
func (g *guard) redirected(req *http.Request, before *hop) (judged, error) {
	from := before.target
	to, err := target(req.URL)
	switch {
	case err != nil:
		return to, from.leads(err)
	case before.count == mostRedirects:
		return to, failed(Redirect, "%s redirects once more after %d redirects", from.host, mostRedirects)
	case from.url.Scheme == "https" && to.url.Scheme == "http":
		return to, denied(Redirect, "%s redirects from https to http, where anybody on the way could answer", from.host)
	case to.origin == from.origin:
		return g.options.judge(req.URL)
	case req.Body != nil && req.Body != http.NoBody:
		return to, denied(Redirect, "%s wants what was sent to it to be sent to %s too", from.host, to.host)
	}
	if to, err = (Options{Only: g.options.Only}).judge(req.URL); err != nil {
		return to, from.leads(err)
	}
	return to, nil
}

// leads says of a refusal that a server led there.
func (t judged) leads(err error) error {
	refusal, ok := err.(*Refusal)
	if !ok {
		return err
	}
	said := *refusal
	said.Reason = t.host + " redirects to what is refused: " + said.Reason
	return &said
}

// kept are the headers that go on to another origin. Everything else that a caller set
// was meant for the first one, whatever its name, and Referer would tell what was asked
// of it.
var kept = []string{"Accept", "Accept-Language", "Range", "User-Agent"}

// request is the request as it is sent: to the judged host, by its own name.
func (h *hop) request(ctx context.Context, req *http.Request) *http.Request {
	out := req.Clone(ctx)
	out.URL, out.Host = h.target.url, ""
	out.Header.Del("Accept-Encoding") // the transport sets its own, and undoes it
	for name := range out.Header {
		if h.left && !slices.Contains(kept, name) {
			delete(out.Header, name)
		}
	}
	return out
}
