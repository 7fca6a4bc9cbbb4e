package main

import (
	"net/url"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
)

// article is the article of a page, or nil. Only a reader looks for one.
func article(root *html.Node, address *url.URL) *html.Node {
	found, err := readability.FromDocument(root, address)
	if err != nil {
		return nil
	}
	return found.Node
}
