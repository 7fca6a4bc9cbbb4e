package main

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestImages stand before the text of their message.
func TestImages(t *testing.T) {
	look := user("what is it?")
	look.Media = []sdk.Medium{{Kind: sdk.MediumImage, MIMEType: "image/png", Data: "QUJD"}}
	silent := user("")
	silent.Media = look.Media
	const png = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`
	want := `[{"role":"user","content":[` + png + `,{"type":"text","text":"what is it?"}]},{"role":"assistant","content":[{"type":"text","text":"a dot"}]},{"role":"user","content":[` + png + `]}]`
	if got := sentMessages(t, look, answer("a dot"), silent); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
