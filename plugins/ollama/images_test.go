package main

import (
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestImages are data beside the text, and count as tokens.
func TestImages(t *testing.T) {
	look := sdk.Message{Role: sdk.RoleUser, Text: "what is it?", Media: []sdk.Medium{{Kind: sdk.MediumImage, MIMEType: "image/png", Data: "QUJD"}, {Data: "REVG"}}}
	w := wireRequest(sdk.Request{Model: "m", Messages: []sdk.Message{look}}, 8192)
	got, err := json.Marshal(w.Messages)
	if err != nil || string(got) != `[{"role":"user","content":"what is it?","images":["QUJD","REVG"]}]` {
		t.Errorf("%s, %v", got, err)
	}
	if n := w.tokens(); n < 2*imageTokens {
		t.Errorf("they count as %d tokens", n)
	}
}
