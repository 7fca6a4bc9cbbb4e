package main

import "github.com/bothyd/bothy/daemon/cmd/internal/verbs"

type tagsCmd struct {
	Read offline[verbs.TagsRead] `cmd:"" help:"Say which calls a model's answer has."`
	Edit offline[verbs.TagsEdit] `cmd:"" help:"Make the edits that a model wrote, on a text."`
}
