package project

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestAttachedPictures: a picture goes as one, and stands in the text by its name; who only looks is told what it is.
func TestAttachedPictures(t *testing.T) {
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	data, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	magic := string(data[:16])
	root := tree(t, map[string]string{"three.png": string(data) + strings.Repeat("x", 3<<20), "a.go": "1\n", "dot.png": string(data), "broken.png": magic, "large.png": magic + strings.Repeat("x", sdk.MaxMedium)})
	text, media, err := Files{}.Attached(context.Background(), root, []sdk.Attachment{{Path: "dot.png"}, {Path: "a.go"}})
	if err != nil || len(media) != 1 || media[0].Data != dot || media[0].Width != 1 || !strings.HasPrefix(text, "The person attached the picture dot.png.\n\nThe person attached a.go,") {
		t.Errorf("%q, %+v, %v", text, media, err)
	}
	f, err := Files{}.Read(context.Background(), rpc.FileParams{Project: root, Path: "dot.png"})
	if err != nil || f.Medium == nil || f.Medium.Data != "" || f.Medium.MIMEType != "image/png" || f.Text != "" || f.Path != "dot.png" {
		t.Errorf("%+v, %v", f, err)
	}
	for path, want := range map[string]sdk.Outcome{"broken.png": sdk.Validation, "large.png": sdk.Overflow} {
		if _, _, err := (Files{}).Attached(context.Background(), root, []sdk.Attachment{{Path: path}}); sdk.OutcomeOf(err) != want || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, media, err := (Files{}).Attached(context.Background(), root, []sdk.Attachment{{Path: "three.png"}, {Path: "three.png"}, {Path: "three.png"}}); sdk.OutcomeOf(err) != sdk.Overflow || err == nil {
		t.Errorf("more than any prompt takes: %d, %v", len(media), err)
	}
	if _, _, err := (Files{}).Attached(context.Background(), root, []sdk.Attachment{{Path: "dot.png", From: 1, To: 2}}); sdk.OutcomeOf(err) != sdk.Validation || err == nil {
		t.Errorf("lines of a picture: %v", err)
	}
}
