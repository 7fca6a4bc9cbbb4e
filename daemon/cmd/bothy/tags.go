package main

import "github.com/bothyd/bothy/daemon/cmd/internal/verbs"

type tagsCmd struct {
	Edit offline[verbs.TagsEdit] `cmd:"" help:"Make the edits that a model wrote, on a text."`
}
