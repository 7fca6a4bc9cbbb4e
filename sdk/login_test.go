package sdk

import (
	"reflect"
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
