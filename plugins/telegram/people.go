package main

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// listed reports whether who wrote a message may write here. Who is not listed hears nothing: their texts are passed on as
// far as one is a code that somebody at the desk waits for.
func (f *front) listed(ctx context.Context, m *message) (bool, error) {
	people, known, err := f.known(ctx, m.person())
	if err != nil || known {
		return known, err
	}
	if people.Pairing && m.alone() && m.Forwarded == nil {
		if code := sdk.PairingCode(m.Text); code != "" {
			return false, f.claim(ctx, m, code)
		}
	}
	if _, addressed := f.addressed(group{m}); addressed {
		f.note("telegram user "+m.person(), "wrote to the bot and is not listed: `bothy channels pair` lists somebody")
	}
	return false, nil
}

// known looks for somebody among those who may write here.
func (f *front) known(ctx context.Context, person string) (people rpc.People, known bool, err error) {
	err = f.daemon.Call(ctx, rpc.MethodPeople, rpc.PeopleParams{Channel: f.instance}, &people)
	return people, slices.ContainsFunc(people.People, func(p rpc.ListedPerson) bool { return p.Called == person }), err
}

// claim passes a code on. Who sent a wrong one hears nothing.
func (f *front) claim(ctx context.Context, m *message, code string) error {
	from := m.from()
	from.Message = ""
	err := f.daemon.Call(ctx, rpc.MethodClaim, rpc.Claim{Code: code, From: from, Name: calledBy(m.From)}, nil)
	switch {
	case err == nil:
		return f.tell(ctx, m.place(), "Sent on. When this is confirmed at the desk, write again.")
	case sdk.OutcomeOf(err) == sdk.Permission || sdk.OutcomeOf(err) == sdk.NotFound || sdk.OutcomeOf(err) == sdk.Validation:
		f.note("telegram user "+m.person(), "sent a wrong code")
		return nil
	case sdk.OutcomeOf(err) == sdk.Conflict: // they are listed by now
		return nil
	}
	return err
}

// mostName is how long a name may be that the daemon takes, in bytes.
const mostName = 128

// calledBy is what the service calls somebody for people, who may have chosen it themselves: as much as the daemon takes of
// it, which is no sign that nobody sees.
func calledBy(u user) string {
	name := strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, strings.Join(strings.Fields(u.Name), " "))
	at := ""
	if u.Username != "" {
		at = "@" + u.Username
	}
	for len(name)+1+len(at) > mostName {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return strings.TrimSpace(strings.TrimSpace(name) + " " + at)
}
