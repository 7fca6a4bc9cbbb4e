package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/provider"
)

// longestCode is how long a code may be that a person types.
const longestCode = 64

// AuthSteps holds the steps of one sign-in to the contract of sdk.AuthStep: one field
// each, an address that a browser may be sent to, a code behind an address, texts of one
// line, and Done at the end. Its zero value is ready.
type AuthSteps struct {
	Done *sdk.AuthDone // nil until it came

	opened bool
	wrong  error
}

// Add takes the next step. It never fails: Wrong and End say what was wrong.
func (o *AuthSteps) Add(s sdk.AuthStep) error {
	n := 0
	for _, set := range []bool{s.Open != "", s.Code != "", s.Wait != nil, s.Done != nil} {
		if set {
			n++
		}
	}
	switch {
	case o.Done != nil:
		o.say("a step came behind Done")
	case n != 1:
		o.say("a step has %d fields, and must have one", n)
	case s.Open != "":
		o.opened = true
		if err := forBrowser(s.Open); err != nil {
			o.say("the address %q cannot be opened: %w", s.Open, err)
		}
	case s.Code != "" && !o.opened:
		o.say("the code %q has no address before it at which it is entered", s.Code)
	case s.Code != "" && (len(s.Code) > longestCode || !oneLine(s.Code)):
		o.say("the code %q is no line of at most %d bytes", s.Code, longestCode)
	case s.Wait != nil && (s.Wait.Message == "" || !oneLine(s.Wait.Message)):
		o.say("what is waited for is no line of text: %q", s.Wait.Message)
	case s.Done != nil:
		o.Done = s.Done
		if s.Done.Secret == "" || !oneLine(s.Done.Account) {
			o.say("Done has no secret, or an account that is no line of text: %q", s.Done.Account)
		}
	}
	return nil
}

// Wrong is what was wrong so far.
func (o *AuthSteps) Wrong() error { return o.wrong }

// End is what was wrong, once the sign-in went well.
func (o *AuthSteps) End() error {
	if o.wrong == nil && o.Done == nil {
		o.say("the sign-in went well without Done")
	}
	return o.wrong
}

func (o *AuthSteps) say(format string, args ...any) {
	if o.wrong == nil {
		o.wrong = fmt.Errorf(format, args...)
	}
}

// forBrowser refuses an address that nobody should be sent to.
func forBrowser(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return err
	case !oneLine(address):
		return errors.New("it is no line of text")
	case u.Host == "" || u.User != nil:
		return errors.New("it names no host, or a user")
	case u.Scheme == "https" || u.Scheme == "http" && here(u.Hostname()):
		return nil
	}
	return errors.New("it is neither https nor http on this machine")
}

func here(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func oneLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// errEnough is what a reader that wants no more returns.
var errEnough = errors.New("enough")

// signIn begins a sign-in, and leaves it when a person would be waited for.
func signIn(ctx context.Context, s Subject) error {
	client := provider.NewClient(s.Conn)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := client.Authenticate(gone, func(sdk.AuthStep) error { return nil }); err == nil {
		return errors.New("a sign-in whose reader has left went well")
	}
	if !s.Call {
		return Skip("give --call to have a sign-in begun")
	}
	steps := &AuthSteps{}
	err := within(ctx, "the first steps of a sign-in", 3*patience, func(ctx context.Context) error {
		return client.Authenticate(ctx, func(step sdk.AuthStep) error {
			_ = steps.Add(step)
			if step.Wait != nil {
				return errEnough
			}
			return nil
		})
	})
	switch said := answered(err); {
	case errors.Is(err, errEnough):
		return errors.Join(steps.Wrong(), alive(ctx, s))
	case said != nil && said.Outcome == sdk.Unavailable:
		return Skip("nobody can sign in to it: %v", said)
	case said != nil && said.Outcome != sdk.Internal:
		return errors.Join(steps.Wrong(), Warn("the sign-in ended with these settings: %v", said))
	case err != nil:
		return fmt.Errorf("the sign-in failed: %w", err)
	}
	return steps.End()
}
