package host

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func TestComplete(t *testing.T) {
	r := started(t, func(c *Config) { c.StreamIdle = 100 * time.Millisecond })
	var got sdk.Completion
	collect := func(d sdk.Delta) error {
		got.Text += d.Text
		if d.Usage != nil {
			got.Usage = d.Usage
		}
		if d.Finish != nil {
			got.Finish = d.Finish.Reason
		}
		return nil
	}
	complete := func(model string) error {
		got = sdk.Completion{}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return r.Complete(ctx, "fault", sdk.Request{Model: model}, collect)
	}
	if err := complete("good"); err != nil || got.Text != "hello" || got.Finish != "stop" || got.Usage.Total != 3 {
		t.Errorf("%+v %v", got, err)
	}
	var failed *sdk.ProviderError
	once := "once=" + filepath.Join(t.TempDir(), "mark")
	if err := complete(once); !errors.As(err, &failed) || failed.Class != sdk.ClassServer || failed.Streamed {
		t.Errorf("the first attempt: %+v %v", got, err)
	}
	if err := complete(once); err != nil || got.Text != "hello" {
		t.Errorf("the second attempt: %+v %v", got, err)
	}
	if err := complete("limited"); !errors.As(err, &failed) || failed.Class != sdk.ClassRateLimit || failed.RetryAfter != time.Hour || failed.Status != 429 {
		t.Errorf("limited: %v", err)
	}
	if err := complete("cut"); !errors.As(err, &failed) || !failed.Streamed || !strings.Contains(failed.Message, "without a finish") {
		t.Errorf("cut: %v", err)
	}
	if err := complete("stall"); !errors.As(err, &failed) || !failed.Streamed || !strings.Contains(failed.Message, "stalled") {
		t.Errorf("stall: %v", err)
	}
	wantOutcome(t, complete("crash"), sdk.PluginCrashed)
	if err := complete("good"); err != nil {
		t.Error(err)
	}
	models, err := r.Models(context.Background(), "fault")
	if err != nil || len(models) != 1 || models[0].Provider != "fault" {
		t.Errorf("%+v %v", models, err)
	}
	_, err = r.Models(context.Background(), "absent")
	wantOutcome(t, err, sdk.NotFound)
	full := errors.New("disk full")
	err = r.Complete(context.Background(), "fault", sdk.Request{Model: "good"}, func(sdk.Delta) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("the reader's error was lost: %v", err)
	}
}
