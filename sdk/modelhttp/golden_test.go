package modelhttp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// answered plays a golden file, the bytes of an HTTP answer behind a line that says
// where they come from, to a client.
func answered(t *testing.T, file string) *sdk.ProviderError {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, answer, ok := bytes.Cut(raw, []byte("\n"))
	if !ok {
		t.Fatalf("%s has no answer", file)
	}
	l := listener(t)
	served := make(chan error, 1)
	go func() { served <- answerOnce(l, answer) }()
	c := client(t, Options{Base: "http://" + l.Addr().String() + "/v1"})
	_, err = c.Post(t.Context(), "/answers", struct{}{})
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	var e *sdk.ProviderError
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T), want a ProviderError", err, err)
	}
	return e
}

func answerOnce(l net.Listener, answer []byte) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err == nil {
		_, err = io.Copy(io.Discard, req.Body)
	}
	if err == nil {
		_, err = conn.Write(answer)
	}
	return errors.Join(err, conn.Close())
}

func goldenFiles(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.http"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, error %v", files, err)
	}
	return files
}

// TestOverflowTexts plays every wording of a context that is too long, as its
// server sends it.
func TestOverflowTexts(t *testing.T) {
	for _, file := range goldenFiles(t, "overflow") {
		if e := answered(t, file); e.Class != sdk.ClassOverflow || e.RetryAfter != 0 || !strings.Contains(e.Message, "too long") {
			t.Errorf("%s became %+v", file, *e)
		}
	}
}

// retries is what each golden answer means for a retry.
var retries = map[string]struct {
	class   sdk.FailureClass
	waits   time.Duration
	noTools bool
}{
	"reset": {class: sdk.ClassGateway}, "408": {class: sdk.ClassGateway},
	"409-openai": {class: sdk.ClassServer}, "409-anthropic": {class: sdk.ClassServer},
	"429-rate": {class: sdk.ClassRateLimit}, "429-slow-down": {class: sdk.ClassRateLimit},
	"429-anthropic": {class: sdk.ClassRateLimit, waits: 13 * time.Second},
	"500-openai":    {class: sdk.ClassServer}, "500-anthropic": {class: sdk.ClassServer},
	"502": {class: sdk.ClassGateway}, "503": {class: sdk.ClassGateway}, "503-loading": {class: sdk.ClassWarmUp}, "504": {class: sdk.ClassGateway},
	"529": {class: sdk.ClassServer},
	"400": {class: sdk.ClassNever}, "400-reasoning": {class: sdk.ClassNever}, "401": {class: sdk.ClassNever}, "402": {class: sdk.ClassNever}, "403": {class: sdk.ClassNever},
	"404": {class: sdk.ClassNever}, "413": {class: sdk.ClassNever}, "422": {class: sdk.ClassNever},
	"quota": {class: sdk.ClassNever}, "credit": {class: sdk.ClassNever}, "spend": {class: sdk.ClassNever},
	"spend-anthropic": {class: sdk.ClassNever}, "balance-anthropic": {class: sdk.ClassNever},
	"no-tools-ollama": {class: sdk.ClassNever, noTools: true}, "no-tools-ollama-v1": {class: sdk.ClassNever, noTools: true},
	"no-thinking-ollama": {class: sdk.ClassNever},
	"after-ms":           {class: sdk.ClassRateLimit, waits: 1500 * time.Millisecond},
	"after-seconds":      {class: sdk.ClassGateway, waits: 20 * time.Second},
	"after-date":         {class: sdk.ClassGateway, waits: maxRetryAfter}, // in the year 2100
	"should":             {class: sdk.ClassServer}, "should-not": {class: sdk.ClassNever},
	"limits":                {class: sdk.ClassRateLimit, waits: time.Second},
	"limits-tokens":         {class: sdk.ClassRateLimit, waits: 6 * time.Minute},
	"limits-anthropic":      {class: sdk.ClassRateLimit, waits: maxRetryAfter},
	"limits-anthropic-room": {class: sdk.ClassServer},
}

func TestRetryClasses(t *testing.T) {
	files := goldenFiles(t, "retry")
	for _, file := range files {
		want, ok := retries[strings.TrimSuffix(filepath.Base(file), ".http")]
		if !ok {
			t.Errorf("%s is in no test", file)
			continue
		}
		if e := answered(t, file); e.Class != want.class || e.RetryAfter != want.waits || e.NoTools != want.noTools || e.Streamed {
			t.Errorf("%s became %+v, want %+v", file, *e, want)
		}
	}
	if len(files) != len(retries) {
		t.Errorf("%d files, %d expectations", len(files), len(retries))
	}
}
