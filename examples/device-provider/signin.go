package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// The pauses between two questions whether the person is done.
const (
	usualPause = 5 * time.Second // where the server names none
	leastPause = 50 * time.Millisecond
	slower     = 5 * time.Second // more, each time the server says slow_down
)

// begun is what the server answers to who wants to sign in.
type begun struct {
	DeviceCode string   `json:"device_code"`
	UserCode   string   `json:"user_code"`
	Address    string   `json:"verification_uri"`
	ExpiresIn  int      `json:"expires_in"`
	Interval   *float64 `json:"interval"`
}

func (b begun) pause() time.Duration {
	if b.Interval == nil {
		return usualPause
	}
	return max(time.Duration(*b.Interval*float64(time.Second)), leastPause)
}

// answer is what the server answers to who asks whether the person is done.
type answer struct {
	Token string `json:"access_token"`
	Error string `json:"error"`
}

// Authenticate signs a person in. It keeps nothing: what it got is in the last step.
func (d *device) Authenticate(ctx context.Context, show func(sdk.AuthStep) error) error {
	var b begun
	if err := d.ask(ctx, "/device/code", url.Values{"client_id": {d.Client}}, &b); err != nil {
		return err
	}
	until := time.Now().Add(time.Duration(b.ExpiresIn) * time.Second)
	for _, step := range []sdk.AuthStep{
		{Open: b.Address}, {Code: b.UserCode}, {Wait: &sdk.AuthWait{Message: "waiting until you have entered the code", Until: until}},
	} {
		if err := show(step); err != nil {
			return err
		}
	}
	token, err := d.wait(ctx, b)
	if err != nil {
		return err
	}
	name, err := d.account(ctx, token)
	if err != nil {
		return err
	}
	return show(sdk.AuthStep{Done: &sdk.AuthDone{Account: name, Secret: token}})
}

// wait asks again and again until the server has a token, or will have none.
func (d *device) wait(ctx context.Context, b begun) (string, error) {
	for pause := b.pause(); ; {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(pause):
		}
		var a answer
		form := url.Values{"client_id": {d.Client}, "device_code": {b.DeviceCode}, "grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}}
		if err := d.ask(ctx, "/token", form, &a); err != nil {
			return "", err
		}
		switch {
		case a.Token != "":
			return a.Token, nil
		case a.Error == "authorization_pending":
		case a.Error == "slow_down":
			pause += slower
		case a.Error == "access_denied":
			return "", sdk.Errorf(sdk.Permission, "the sign-in was refused")
		case a.Error == "expired_token":
			return "", sdk.Errorf(sdk.Timeout, "the code was not entered in time: sign in again")
		default:
			return "", sdk.Errorf(sdk.Unavailable, "the server ended the sign-in: %s", a.Error)
		}
	}
}

// account is the name of who has a token.
func (d *device) account(ctx context.Context, token string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL+"/account", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	var who struct {
		Name string `json:"name"`
	}
	return who.Name, d.do(r, &who)
}

func (d *device) ask(ctx context.Context, path string, form url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return d.do(r, into)
}

// do reads an answer. 400 is one as well: its body says what is missing. No error has
// anything of what was sent, for there are secrets in it.
func (d *device) do(r *http.Request, into any) error {
	resp, err := d.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusBadRequest {
		return sdk.Errorf(sdk.Unavailable, "the server answered %s", resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(into); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return nil
}
