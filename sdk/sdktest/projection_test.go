package sdktest_test

import (
	"context"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
	"github.com/bothyd/bothy/sdk/sdktest"
)

// TestProjection: what a plugin shows of its entries is held at the level of each.
func TestProjection(t *testing.T) {
	options := plugin.Options{
		Name: "notes", Schemes: []sdk.Scheme{{Name: "note", ModelVisible: true}},
		Projections: map[string]plugin.Projection{"note": func(_ context.Context, e sdk.Entry, level sdk.Visibility) (string, error) {
			if e.Body == "" {
				return "", sdk.Errorf(sdk.NotFound, "an empty note")
			}
			return string(level) + " " + e.Body, nil
		}},
	}
	sdktest.Configure(t, options, sdktest.Block{}).Projection(
		sdktest.Shown{Entry: sdk.Entry{Path: "note://a", Body: "tea"}, Want: "visible tea"},
		sdktest.Shown{Entry: sdk.Entry{Path: "note://b", Body: "tea", Visibility: sdk.Summarized}, Want: "summarized tea"},
		sdktest.Shown{Entry: sdk.Entry{Path: "note://c", Body: "tea"}, Level: sdk.Summarized, Want: "summarized tea"},
		sdktest.Shown{Entry: sdk.Entry{Path: "note://d"}, Fails: sdk.NotFound},
	)
}
