package cassette

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestImagesAreCompared by their digests, wherever a cassette is played; it keeps no picture.
func TestImagesAreCompared(t *testing.T) {
	look := func(data string) []sdk.Message {
		return []sdk.Message{{Role: sdk.RoleUser, Text: "look", Media: []sdk.Medium{{Kind: sdk.MediumImage, MIMEType: "image/png", Width: 2, Height: 1, Data: data}}}}
	}
	c := Cassette{Model: "m", Steps: []Step{NewStep(Fresh(look("QUJD"), true), sdk.Completion{Text: "a dot", Finish: "stop"}, nil)}}
	raw, err := c.Encode()
	if err != nil || strings.Contains(string(raw), "QUJD") || !strings.Contains(string(raw), `look\n[image/png of 2 by 1 pixels, sha256 `) {
		t.Errorf("%s, %v", raw, err)
	}
	for data, same := range map[string]bool{"QUJD": true, "REVG": false} {
		_, next := c.Next(0, Fresh(look(data), true))
		_, found := c.Find(sdk.Request{Messages: look(data)})
		if (next == nil) != same || (found == nil) != same {
			t.Errorf("%s: %v, %v", data, next, found)
		}
	}
	if m := look("QUJD"); Fresh(m, true)[0].Media != nil || m[0].Media == nil {
		t.Error("the request itself was changed")
	}
}
