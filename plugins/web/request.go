package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"time"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/webguard"
)

// userAgent names Bothy to whoever is asked.
var userAgent = "Bothy/" + sdk.Version + " (+https://github.com/bothyd/bothy)"

// mostLength is how long an address may be that is asked for, or that a server redirects to.
const mostLength = 8 << 10

// request is what is asked for.
type request struct {
	address  *url.URL // judged
	method   string
	form     reader.Form
	sameHost bool     // a redirect to another host is not followed
	notHosts []string // globs of hosts to which none is
}

// answer is what came of a request: a page, or what there is instead of one.
type answer struct {
	page
	read      bool   // the page has a text
	length    int64  // that the server says; -1 where it does not
	elsewhere string // the address on another host that it redirects to, which was not asked
}

// ask makes a request and has the answer read. Nothing but the address goes out: no cookie, no credential.
func (w *web) ask(ctx context.Context, r request) (answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, r.address.String(), nil)
	if err != nil {
		return answer{}, sdk.Errorf(sdk.Validation, "this is no address of the web: it begins with https:// or http://")
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/markdown, text/html, application/xhtml+xml, application/json, text/plain, application/pdf;q=0.9, */*;q=0.1")
	if r.method != http.MethodHead {
		defer w.readers.expect()()
	}
	client := *w.client
	var elsewhere string
	client.CheckRedirect = func(next *http.Request, _ []*http.Request) error {
		next.Header.Del("Referer")
		to, err := w.options.JudgeURL(next.URL)
		if err != nil || r.mayLead(to.Hostname()) {
			return nil // the client judges where it leads, and says why not
		}
		elsewhere = to.String()
		return http.ErrUseLastResponse
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, w.unanswered(ctx, r, err)
	}
	defer func() { _ = resp.Body.Close() }() // read as far as it is wanted
	a := answer{length: resp.ContentLength, elsewhere: elsewhere, page: page{
		address: r.address.String(), Final: resp.Request.URL.String(), Status: resp.StatusCode, Time: w.now().UTC().Truncate(time.Second), Form: r.form,
	}}
	if _, a.Type = kindOf(resp.Header.Get("Content-Type"), nil); resp.Header.Get("Content-Type") == "" {
		a.Type = ""
	}
	if len(a.Final) > mostLength || len(elsewhere) > mostLength {
		return answer{}, sdk.Errorf(sdk.Overflow, "%s redirects to an address of more than %d bytes, which is none that could be shown", r.address.Host, mostLength)
	}
	if r.method == http.MethodHead || elsewhere != "" {
		return a, nil
	}
	return a, w.readBody(ctx, r, resp, &a)
}

// mayLead reports whether a redirect to the host is followed.
func (r request) mayLead(host string) bool {
	return (!r.sameHost || host == r.address.Hostname()) && !slices.ContainsFunc(r.notHosts, func(glob string) bool {
		is, err := path.Match(glob, host)
		return is || err != nil
	})
}

// readBody reads the body of an answer and has it made a text.
func (w *web) readBody(ctx context.Context, r request, resp *http.Response, a *answer) error {
	header := resp.Header.Get("Content-Type")
	if said, _ := kindOf(header, nil); said == reader.PDF && resp.ContentLength > int64(w.settings.MaxPDF) {
		return w.tooLarge(r)
	}
	// What a body is may be known only by its beginning.
	first := make([]byte, 512)
	n, err := io.ReadFull(resp.Body, first)
	if err != nil && !atEnd(err) {
		return w.unanswered(ctx, r, err)
	}
	first = first[:n]
	var is reader.Kind
	if is, a.Type = kindOf(header, first); is == reader.Other {
		return nil
	}
	most := w.settings.MaxText
	if is == reader.PDF { // which cannot be cut
		most = w.settings.MaxPDF
	}
	share := w.inHand.share()
	defer share.close()
	body, err := share.read(ctx, io.MultiReader(bytes.NewReader(first), resp.Body), most+1)
	if err != nil {
		return w.unanswered(ctx, r, err)
	}
	if len(body) > most {
		if is == reader.PDF {
			return w.tooLarge(r)
		}
		body, a.Cut = body[:most], true
	}
	_ = resp.Body.Close() // nobody waits for the rest
	digest := sha256.Sum256(body)
	a.Bytes, a.Digest = len(body), hex.EncodeToString(digest[:])
	return w.text(ctx, reader.Document{Kind: is, Type: header, Address: a.Final, Form: r.form, Most: w.settings.MaxText}, body, a)
}

// text makes a body the answer's text. One that is its own text needs no reader.
func (w *web) text(ctx context.Context, d reader.Document, body []byte, a *answer) error {
	if a.Cut {
		body = reader.Whole(body)
	}
	a.read = true
	if d.Kind == reader.Text && plain(d.Type, body) {
		a.text = string(body)
		return nil
	}
	if len(body) == 0 {
		return nil
	}
	text, said, err := w.readers.read(ctx, d, body)
	a.text, a.Title, a.Cut = text, said.Title, a.Cut || said.Cut
	return err
}

func (w *web) tooLarge(r request) error {
	return sdk.Errorf(sdk.Overflow, "the document at %s is a PDF of more than the %d bytes that are read, and a PDF cannot be cut: max_pdf in the plugin's block", r.address.Host, w.settings.MaxPDF)
}

// unanswered is why there is no answer, without what the address holds beside its host.
func (w *web) unanswered(ctx context.Context, r request, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if refusal, is := errors.AsType[*webguard.Refusal](err); is {
		return refused(refusal)
	}
	return sdk.Errorf(sdk.Unavailable, "%s does not answer as a web server does", r.address.Host)
}

// refused is a refusal of the guard as the error of a call.
func refused(r *webguard.Refusal) error {
	outcome := sdk.Unavailable
	switch {
	case r.Verdict == webguard.Deny:
		outcome = sdk.Permission
	case r.Kind == webguard.Malformed:
		outcome = sdk.Validation
	case r.Kind == webguard.Unknown:
		outcome = sdk.NotFound
	case r.Kind == webguard.Timeout, r.Kind == webguard.TooSlow:
		outcome = sdk.Timeout
	case r.Kind == webguard.TooLarge:
		outcome = sdk.Overflow
	}
	return sdk.Errorf(outcome, "%s (%s)", r.Reason, r.Kind)
}
