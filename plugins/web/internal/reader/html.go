package reader

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readHTML is the text of a page: as Markdown, of all or of its article, or its source.
func readHTML(d Document, page []byte) (string, Reading) {
	page, err := decode(d, page)
	if err != nil {
		return "", Reading{Failed: "is not in the charset that it is said to be in"}
	}
	if d.Form == Raw { // which may be what cannot be parsed
		return string(page), Reading{Title: titleInSource(page)}
	}
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return "", Reading{Failed: "is HTML that is nested too deep to be read; raw = true has its source"}
	}
	r := Reading{Title: titleOf(root)}
	address, err := url.Parse(d.Address)
	if err != nil {
		return "", Reading{Failed: "has an address that links in it cannot be relative to"}
	}
	base := baseOf(root, address)
	if d.Form == Main {
		if root = article(root, address); root == nil {
			return "", Reading{Failed: "has no article that could be told from the rest; leave out main"}
		}
	}
	text, err := markdown(root, base)
	if err != nil {
		return "", Reading{Failed: "could not be made Markdown; raw = true has its source"}
	}
	return text, r
}

// markdown is a page, or a part of one, as Markdown with absolute links.
func markdown(root *html.Node, address string) (string, error) {
	without(root)
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	text, err := c.ConvertNode(root, converter.WithDomain(address))
	return string(bytes.TrimSpace(text)), err
}

// baseOf is the address that links are relative to: the one that the page names, or else its own. What belongs to
// one page is left out.
func baseOf(root *html.Node, address *url.URL) string {
	for n := range root.Descendants() {
		if n.DataAtom != atom.Base || n.Namespace != "" {
			continue
		}
		if named, err := address.Parse(strings.TrimSpace(attribute(n, "href"))); err == nil && (named.Scheme == "http" || named.Scheme == "https") {
			address = named
			break
		}
	}
	u := *address
	u.RawQuery, u.Fragment, u.RawFragment = "", "", ""
	return u.String()
}

// without takes away what is no text: pictures that stand in the page itself, whose address is their bytes.
func without(root *html.Node) {
	var next *html.Node
	for n := root.FirstChild; n != nil; n = next {
		next = n.NextSibling
		if n.DataAtom == atom.Img && strings.HasPrefix(strings.TrimSpace(attribute(n, "src")), "data:") {
			root.RemoveChild(n)
			continue
		}
		without(n)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// titleOf is what the page calls itself.
func titleOf(root *html.Node) string {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Title && n.Namespace == "" && n.FirstChild != nil {
			return bounded(n.FirstChild.Data)
		}
	}
	return ""
}

// titleInSource is the same of a page that is not parsed.
func titleInSource(page []byte) string {
	z := html.NewTokenizer(bytes.NewReader(page))
	for within := false; ; {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			name, _ := z.TagName()
			within = string(name) == "title"
		case html.EndTagToken:
			within = false
		case html.TextToken:
			if within {
				return bounded(string(z.Text()))
			}
		}
	}
}

// bounded is a title of a length that the plugin reads.
func bounded(title string) string {
	const most = 8 << 10
	return string(Whole([]byte(title[:min(len(title), most)])))
}
