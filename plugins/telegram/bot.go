package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/loopback"
)

const (
	// longPoll is how long Telegram holds a question for updates while there are none.
	longPoll = 50 * time.Second
	// mostAnswer bounds what is read of an answer. It holds at most 100 updates, whose texts strangers write, twice in a
	// reply, with six bytes for a character and fifty for each of the names in it.
	mostAnswer = 64 << 20
	// mostWait is the longest wait that Telegram is granted: one that asks for more is asked again after it.
	mostWait = 5 * time.Minute
	// jsonBody is the content type of parameters.
	jsonBody = "application/json"
	// mostTries is how often a call is made that Telegram says comes too soon.
	mostTries = 10
)

// bot asks the Bot API. It may be used concurrently.
type bot struct {
	base  string // the API's URL without the token
	token string
	http  *http.Client
	pause func(ctx context.Context, d time.Duration) error // waits, or is what a test has in its place
	told  func(status string)                              // hears that Telegram asks to wait
}

// newBot checks where the API is: a token goes over the network in each URL, and so never in the clear.
func newBot(api, token string) (*bot, error) {
	u, err := url.Parse(api)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, sdk.Errorf(sdk.Validation, "api is no URL of a server: write one such as https://api.telegram.org")
	case u.Scheme != "https" && !(u.Scheme == "http" && loopback.IsLoopback(u.Hostname())):
		return nil, sdk.Errorf(sdk.Validation, "api is neither https nor on this machine, and the bot's token is in every request: write https://%s", u.Host)
	case !isToken(token):
		return nil, sdk.Errorf(sdk.Validation, "token is none of a bot: copy it from @BotFather, as in 123456:ABC-DEF")
	}
	return &bot{
		base: strings.TrimRight(u.String(), "/"), token: token,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8,
				TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token follows nobody
		},
		pause: pause, told: func(string) {},
	}, nil
}

// isToken reports whether a token can stand in a URL as it is.
func isToken(token string) bool {
	return len(token) >= 8 && len(token) <= 128 && !strings.ContainsFunc(token, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == ':' || c == '_' || c == '-')
	})
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call asks for a method, with params as JSON, and reads what it gives into result, which may be nil. What comes too
// soon is asked again when Telegram says. An error is a *refusal, or tells that there is no answer; the token, which is
// in the URL, is in none.
func (b *bot) call(ctx context.Context, method string, params, result any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("the parameters of %s: %w", method, err)
	}
	return b.send(ctx, method, jsonBody, body, result)
}

// send is call with a body that is written already.
func (b *bot) send(ctx context.Context, method, kind string, body []byte, result any) error {
	for try := 1; ; try++ {
		err := b.once(ctx, method, kind, body, result)
		var refused *refusal
		if !errors.As(err, &refused) || refused.Code != http.StatusTooManyRequests || try == mostTries {
			return err
		}
		b.told(fmt.Sprintf("Telegram asks to wait %s", refused.Wait))
		if err := b.pause(ctx, min(refused.Wait, mostWait)); err != nil {
			return err
		}
	}
}

func (b *bot) once(ctx context.Context, method, kind string, body []byte, result any) error {
	limit := 30 * time.Second
	if method == "getUpdates" {
		limit += longPoll
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+"/bot"+b.token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return b.lost(method, err)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := b.http.Do(req)
	if err != nil {
		return b.lost(method, err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read as far as it is wanted
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return b.lost(method, err)
	}
	return b.read(method, resp.StatusCode, raw, result)
}

// answer is what every method answers with.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`        // in seconds
		Moved      int64 `json:"migrate_to_chat_id"` // what the chat became
	} `json:"parameters"`
}

func (b *bot) read(method string, status int, raw []byte, result any) error {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil || !a.OK {
		code := status
		if a.Code != 0 {
			code = a.Code
		}
		if err != nil {
			a.Description = "an answer that is not the Bot API's"
		}
		return &refusal{Method: method, Code: code, Said: b.clean(a.Description), Wait: time.Duration(max(a.Parameters.RetryAfter, 1)) * time.Second, Moved: a.Parameters.Moved}
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return sdk.Errorf(sdk.Unavailable, "what Telegram answered to %s cannot be read: %s", method, b.clean(err.Error()))
	}
	return nil
}

// lost is the error of a request without an answer. That of package http repeats the URL.
func (b *bot) lost(method string, err error) error {
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return &refusal{Method: method, Said: b.clean(err.Error())}
}

// clean takes the token, whole and its secret part alone, out of what others wrote, and makes one line of it.
func (b *bot) clean(text string) string {
	_, secret, _ := strings.Cut(b.token, ":")
	for _, s := range []string{b.token, url.PathEscape(b.token), url.QueryEscape(b.token), secret} {
		if len(s) >= 6 {
			text = strings.ReplaceAll(text, s, "[token]")
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:300])
	}
	return text
}

// Format keeps the token out of whatever is printed.
func (b *bot) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "the bot at %s", b.base) } // fmt keeps no errors

// file is the URL of a file of Telegram, which lies below the token too.
func (b *bot) fetch(ctx context.Context, path string, most int64) ([]byte, error) {
	if !isFilePath(path) {
		return nil, sdk.Errorf(sdk.Unavailable, "Telegram names a file by %q, which is no path", path)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+"/file/bot"+b.token+"/"+path, nil)
	if err != nil {
		return nil, b.lost("a file", err)
	}
	resp, err := b.http.Do(req)
	if err != nil {
		return nil, b.lost("a file", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read as far as it is wanted
	if resp.StatusCode != http.StatusOK {
		return nil, &refusal{Method: "a file", Code: resp.StatusCode, Said: http.StatusText(resp.StatusCode)}
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, b.lost("a file", err)
	}
	if int64(len(raw)) > most {
		return nil, sdk.Errorf(sdk.Overflow, "the file has more than %d MB", most>>20)
	}
	return raw, nil
}

// isFilePath reports whether what Telegram says of a file stays below the token's part of the URL.
func isFilePath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || url.PathEscape(part) != part {
			return false
		}
	}
	return true
}

// withDocument is a body with params and a file beside them, which they name as attach://document.
func withDocument(params map[string]string, name string, content []byte) (kind string, body []byte, err error) {
	var buffer bytes.Buffer
	form := multipart.NewWriter(&buffer)
	for key, value := range params {
		if err := form.WriteField(key, value); err != nil {
			return "", nil, err
		}
	}
	part, err := form.CreateFormFile("document", name)
	if err == nil {
		_, err = part.Write(content)
	}
	if err == nil {
		err = form.Close()
	}
	return form.FormDataContentType(), buffer.Bytes(), err
}

// number is an id as JSON objects with texts alone have it.
func number(id int64) string { return strconv.FormatInt(id, 10) }
