package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// fake is a server with a device flow: what is entered at its address decides.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	entered string // the last code
	says    string // to who asks behind that; empty gives the token
	asked   int
}

func newFake(t *testing.T) *fake {
	f := &fake{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /device/code", func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, map[string]any{"device_code": "device-1", "user_code": "WXYZ-1234", "verification_uri": f.URL + "/enter", "expires_in": 60, "interval": 0})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked++
		switch {
		case r.FormValue("device_code") != "device-1" || r.FormValue("client_id") != "me":
			reply(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		case f.entered != "WXYZ-1234":
			reply(w, http.StatusBadRequest, map[string]any{"error": "authorization_pending"})
		case f.says != "":
			reply(w, http.StatusBadRequest, map[string]any{"error": f.says})
		default:
			reply(w, http.StatusOK, map[string]any{"access_token": "token-1", "token_type": "bearer"})
		}
	})
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		reply(w, http.StatusOK, map[string]any{"name": "Ada"})
	})
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

func reply(w http.ResponseWriter, status int, body map[string]any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone
}

// person enters the code at the address, as a person would.
func (f *fake) person(t *testing.T) func(sdk.AuthStep) {
	var address, code string
	return func(s sdk.AuthStep) {
		address, code = address+s.Open, code+s.Code
		if s.Wait == nil {
			return
		}
		if !strings.HasPrefix(address, f.URL) {
			t.Errorf("the person was sent to %q", address)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.entered = code
	}
}

// TestSignIn: who signed in is known to the provider that is configured with the secret.
func TestSignIn(t *testing.T) {
	f := newFake(t)
	done := sdktest.SignIn(t, newDevice(settings{URL: f.URL, Client: "me"}), f.person(t))
	if done != (sdk.AuthDone{Account: "Ada", Secret: "token-1"}) || f.asked < 1 {
		t.Errorf("%+v, asked %d times", done, f.asked)
	}
	request := sdk.Request{Model: "greeter", Messages: []sdk.Message{{Role: sdk.RoleUser, Text: "hi"}}}
	sdktest.Provider(t, newDevice(settings{URL: f.URL + "/", Token: done.Secret}), request)
	text := ""
	err := newDevice(settings{URL: f.URL, Token: done.Secret}).Complete(t.Context(), request, func(d sdk.Delta) error { text += d.Text; return nil })
	if err != nil || text != "Hello, Ada!" {
		t.Errorf("%q, error %v", text, err)
	}
	err = newDevice(settings{URL: f.URL}).Complete(t.Context(), request, func(sdk.Delta) error { return nil })
	var failed *sdk.ProviderError
	if !errors.As(err, &failed) || failed.Class != sdk.ClassNever || !strings.Contains(failed.Message, "nobody is signed in") {
		t.Errorf("error %v", err)
	}
}

func TestSignInFails(t *testing.T) {
	for says, want := range map[string]sdk.Outcome{"access_denied": sdk.Permission, "expired_token": sdk.Timeout, "server_error": sdk.Unavailable} {
		f := newFake(t)
		f.says = says
		person := f.person(t)
		err := newDevice(settings{URL: f.URL, Client: "me"}).Authenticate(t.Context(), func(s sdk.AuthStep) error { person(s); return nil })
		if sdk.OutcomeOf(err) != want {
			t.Errorf("%s: error %v", says, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := newDevice(settings{URL: newFake(t).URL, Client: "me"}).Authenticate(ctx, func(s sdk.AuthStep) error {
		if s.Wait != nil {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
