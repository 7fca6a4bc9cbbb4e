package main

type tagsCmd struct {
	Edit tagsEditCmd `cmd:"" help:"Make the edits that a model wrote, on a text."`
}
