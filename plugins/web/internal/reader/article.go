package reader

import (
	"net/url"

	"golang.org/x/net/html"
)

// A reader that is told of a page whose article is wanted lets the rest of the program be initialized, within its walls: what finds
// articles comes late, since it imports net/http.
var (
	articleWanted = make(chan struct{})
	articleFinder = make(chan func(root *html.Node, address *url.URL) *html.Node)
)

// Finish has a reader find the article of its page by find, which has nil where there is none. The program calls it first;
// it does not return in a reader, and does nothing elsewhere.
func Finish(find func(root *html.Node, address *url.URL) *html.Node) {
	if !asked {
		return
	}
	articleFinder <- find
	select {} // readOne ends the process
}

// article is the article of a page, or nil.
func article(root *html.Node, address *url.URL) *html.Node {
	return (<-articleFinder)(root, address)
}
