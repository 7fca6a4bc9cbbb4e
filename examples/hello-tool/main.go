package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/plugin"
)

type person struct {
	Name string `json:"name" jsonschema:"who is greeted"`
}

func hello(_ context.Context, p person) (string, error) {
	return "Hello, " + p.Name + "!", nil
}

func main() { plugin.Serve(plugin.Tool("hello", "Greets a person.", hello)) }
