package main

type tagsCmd struct {
	Read tagsReadCmd `cmd:"" help:"Say which calls a model's answer has."`
	Edit tagsEditCmd `cmd:"" help:"Make the edits that a model wrote, on a text."`
}
