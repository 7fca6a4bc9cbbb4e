package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk"
)

// botOf is a bot of a server, which notes its waits in the place of waiting.
func botOf(t *testing.T, url string, waits *[]time.Duration) *bot {
	t.Helper()
	b, err := newBot(url, telegramtest.Token)
	if err != nil {
		t.Fatal(err)
	}
	b.pause = func(ctx context.Context, d time.Duration) error {
		if waits != nil {
			*waits = append(*waits, d)
		}
		return ctx.Err()
	}
	return b
}

func TestWhereTheAPIIs(t *testing.T) {
	for _, c := range []struct {
		api, token string
		good       bool
	}{
		{"https://api.telegram.org", telegramtest.Token, true},
		{"https://bots.example.com/below/", telegramtest.Token, true},
		{"http://127.0.0.1:8081", telegramtest.Token, true},
		{"http://[::1]:8081", telegramtest.Token, true},
		{"http://api.telegram.org", telegramtest.Token, false},
		{"http://127.0.0.1.example.com", telegramtest.Token, false},
		{"https://u:p@api.telegram.org", telegramtest.Token, false},
		{"https://api.telegram.org?x=1", telegramtest.Token, false},
		{"ftp://127.0.0.1", telegramtest.Token, false},
		{"://", telegramtest.Token, false},
		{"https://api.telegram.org", "", false},
		{"https://api.telegram.org", "42:a/../b?c", false},
	} {
		_, err := newBot(c.api, c.token)
		if (err == nil) != c.good {
			t.Errorf("%s with %q: %v", c.api, c.token, err)
		}
		if err != nil && sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", c.api, err)
		}
	}
}

// TestTokenIsInNoError: it is in each URL, and servers repeat what they were sent.
func TestTokenIsInNoError(t *testing.T) {
	_, secret, _ := strings.Cut(telegramtest.Token, ":")
	repeats := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "getMe"):
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, `{"ok":false,"description":"what is %s and %s"}`, r.URL.Path, secret)
		case strings.HasSuffix(r.URL.Path, "getUpdates"):
			http.Redirect(w, r, "http://127.0.0.1:1/"+r.URL.Path, http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "deleteWebhook"):
			fmt.Fprintf(w, "<html>%s", r.URL.Path)
		default:
			fmt.Fprintf(w, `{"ok":true,"result":%q}`, r.URL.Path)
		}
	}))
	defer repeats.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, url := range []string{repeats.URL, gone.URL} {
		b := botOf(t, url, nil)
		for what, call := range map[string]func() error{
			"getMe":         func() error { _, err := b.getMe(t.Context()); return err },
			"getUpdates":    func() error { _, err := b.getUpdates(t.Context(), 0); return err },
			"deleteWebhook": func() error { return b.deleteWebhook(t.Context()) },
			"getFile":       func() error { _, err := b.getFile(t.Context(), "x"); return err },
			"sendMessage":   func() error { _, err := b.sendMessage(t.Context(), outgoing{}); return err },
			"a file":        func() error { _, err := b.fetch(t.Context(), "../"+telegramtest.Token, 10); return err },
		} {
			err := call()
			if err == nil {
				t.Errorf("%s: no error", what)
				continue
			}
			for _, form := range []string{"%v", "%+v", "%#v"} {
				if text := fmt.Sprintf(form, err); what != "a file" && strings.Contains(text, secret) {
					t.Errorf("%s: %s", what, text)
				}
			}
			for in := err; in != nil; in = errors.Unwrap(in) {
				if what != "a file" && strings.Contains(in.Error(), secret) {
					t.Errorf("%s, within: %v", what, in)
				}
			}
		}
		for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(form, b); strings.Contains(text, secret) {
				t.Errorf("%s prints %s", form, text)
			}
		}
	}
}

func TestTooManyIsWaitedOut(t *testing.T) {
	server := telegramtest.New(t)
	server.Plan("sendMessage", telegramtest.TooMany(7), telegramtest.TooMany(3600))
	var waits []time.Duration
	b := botOf(t, server.URL, &waits)
	var told []string
	b.told = func(s string) { told = append(told, s) }
	if _, err := b.sendMessage(t.Context(), outgoing{Chat: 1, Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(waits) != "[7s 5m0s]" || len(told) != 2 || !strings.Contains(told[0], "wait 7s") {
		t.Errorf("waited %v and told %q", waits, told)
	}
	if posts := server.Posts(1); len(posts) != 1 {
		t.Errorf("%d messages", len(posts))
	}
	for range mostTries {
		server.Plan("sendMessage", telegramtest.TooMany(1))
	}
	if _, err := b.sendMessage(t.Context(), outgoing{Chat: 1, Text: "x"}); !says(err, 429) {
		t.Errorf("for ever: %v", err)
	}
}

func TestRefusalsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		code        int
		description string
		is          func(error) bool
	}{
		{400, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same", isUnchanged},
		{400, "Bad Request: message to edit not found", isGone},
		{400, "Bad Request: can't parse entities: Can't find end of the entity starting at byte offset 7", isUnformatted},
		{400, "Bad Request: entity beginning at UTF-16 offset 3 ends in the middle of a UTF-16 symbol", isUnformatted},
		{403, "Forbidden: bot was blocked by the user", isBarred},
		{403, "Forbidden: bot was kicked from the supergroup chat", isBarred},
		{400, "Bad Request: chat not found", isBarred},
		{409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", isTaken},
		{401, "Unauthorized", isUnknown},
		{404, "Not Found", isUnknown},
	} {
		server := telegramtest.New(t)
		server.Plan("sendMessage", telegramtest.Refusal(c.code, c.description))
		_, err := botOf(t, server.URL, nil).sendMessage(t.Context(), outgoing{})
		for name, is := range map[string]func(error) bool{"unchanged": isUnchanged, "gone": isGone, "unformatted": isUnformatted, "barred": isBarred, "taken": isTaken, "unknown": isUnknown} {
			if is(err) != (fmt.Sprintf("%p", is) == fmt.Sprintf("%p", c.is)) {
				t.Errorf("%d %s: %s is %v", c.code, c.description, name, is(err))
			}
		}
	}
}

// TestTypingDoesNotWait: that the bot is writing is shown or not, and nothing waits for it.
func TestTypingDoesNotWait(t *testing.T) {
	server := telegramtest.New(t)
	server.Plan("sendChatAction", telegramtest.TooMany(30))
	var waits []time.Duration
	if err := botOf(t, server.URL, &waits).sendChatAction(t.Context(), place{Chat: 7}); err == nil || len(waits) != 0 {
		t.Errorf("it waited %v: %v", waits, err)
	}
}
