package main

import (
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestImages stand before the text of their message; other messages stay texts.
func TestImages(t *testing.T) {
	o := server(t, settings{}, nil)
	look := sdk.Message{Role: sdk.RoleUser, Text: "what is it?", Media: []sdk.Medium{{Kind: sdk.MediumImage, MIMEType: "image/png", Data: "QUJD"}, {MIMEType: "image/webp", Data: "REVG"}}}
	silent := sdk.Message{Role: sdk.RoleUser, Media: look.Media[:1]}
	w := o.wireRequest(sdk.Request{Model: "m", Messages: []sdk.Message{look, silent, {Role: sdk.RoleAssistant, Text: "a dot"}}}, shape{})
	got, err := json.Marshal(w.Messages)
	const png = `{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}`
	want := `[{"role":"user","content":[` + png + `,{"type":"image_url","image_url":{"url":"data:image/webp;base64,REVG"}},{"type":"text","text":"what is it?"}]},` +
		`{"role":"user","content":[` + png + `]},{"role":"assistant","content":"a dot"}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}
