package sdk

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLoginText(t *testing.T) {
	l := Login{ID: "a", Server: "https://far.example/mcp", Resource: "https://far.example/mcp", TokenURL: "https://id.example/token", ClientID: "me", ClientAuth: 1,
		Scopes: []string{"read"}, Access: "at", Refresh: "rt", Expiry: time.Now().Round(time.Second).UTC()}
	if got, err := ParseLogin(l.Text()); err != nil || !reflect.DeepEqual(got, l) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "null", "[]", "hunter2", `{"id":"a"}`, `{"id":"a","server":"s"}`, `{"id":1,"server":"s","access_token":"hunter2"}`} {
		if _, err := ParseLogin(text); OutcomeOf(err) != Validation || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLoginsThatAreGuessed: a word is no token, and is hidden nowhere.
func TestLoginsThatAreGuessed(t *testing.T) {
	good := "a1b2c3d4e5f6a7b8"
	for token, want := range map[string]bool{
		"": false, "token": false, "internationalization": false, "2026-11-26T14:00": true, "1234567890123456": false, good: true, good[1:]: false,
		"eyJhbGciOiJIUzI1NiJ9.e30.x": true, "AbCdEfGhIjKlMnOp": true, "application/json": false, "https://github.com/": false, "ABCDEFGHIJKLMNOPQRSTUVWXYZ": true,
	} {
		l := Login{Access: token, ClientSecret: good}
		if err := l.Check(); (err == nil) != want || err != nil && (OutcomeOf(err) != Validation) {
			t.Errorf("%q: %v", token, err)
		}
		if got := l.Secrets(); slices.Contains(got, token) != want || !slices.Contains(got, good) {
			t.Errorf("%q is among %v", token, got)
		}
		if l = (Login{Access: good, Refresh: token}); (l.Check() == nil) != (want || token == "") {
			t.Errorf("%q to renew with: %v", token, l.Check())
		}
	}
}

func FuzzParseLogin(f *testing.F) {
	f.Add(`{"id":"a","server":"s","access_token":"t","expiry":"2026-01-02T03:04:05Z"}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLogin(text)
		if err != nil {
			return
		}
		if again, err := ParseLogin(l.Text()); err != nil || again.Text() != l.Text() {
			t.Errorf("%q is %+v, and then %+v, %v", text, l, again, err)
		}
	})
}
