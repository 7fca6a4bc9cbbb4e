package main

import (
	"context"
	"os"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
)

// shelf is a scheme whose entries say in their bodies what becomes of who asks what they show.
func shelf() ([]sdk.Scheme, map[string]plugin.Projection) {
	shows := func(ctx context.Context, e sdk.Entry, level sdk.Visibility) (string, error) {
		switch e.Body {
		case "die":
			os.Exit(8)
		case "hang":
			forever()
		case "panic":
			panic("no such page")
		case "ask":
			_, err := host.From(ctx).Entry(ctx, "known://a")
			return "", err
		case "refuse":
			return "", sdk.Errorf(sdk.NotFound, "the page was torn out")
		}
		return string(level) + " " + e.Path + " " + e.Body + " " + string(e.Attributes), nil
	}
	return []sdk.Scheme{{Name: "shelf", Category: sdk.CategoryData, ModelVisible: true}, {Name: "plain", ModelVisible: true}},
		map[string]plugin.Projection{"shelf": shows}
}
