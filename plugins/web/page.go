package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"time"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// fresh is how long a page is answered from its entry.
const fresh = 15 * time.Minute

// page is what was read at an address. As an entry of the run it has its text as body, and the rest as attributes.
type page struct {
	Address string      `json:"address,omitempty"` // where it is not the entry's path
	Title   string      `json:"title,omitempty"`
	Final   string      `json:"final"` // the address that answered, behind all redirects
	Status  int         `json:"status"`
	Type    string      `json:"type"`
	Time    time.Time   `json:"time"`   // when it was asked
	Digest  string      `json:"digest"` // hex SHA-256 of the bytes that were read
	Bytes   int         `json:"bytes"`  // how many these are
	Cut     bool        `json:"cut"`    // the text does not go to the end
	Form    reader.Form `json:"form"`

	address string // that was asked for
	text    string
}

// entryPath is the path of the entry of an address: the address, or where that is too long for a path, its
// host and its hash.
func entryPath(address string) string {
	if len(address) <= sdk.MaxPath {
		return address
	}
	u, err := url.Parse(address)
	if err != nil { // it was judged
		return ""
	}
	hash := sha256.Sum256([]byte(address))
	return u.Scheme + "://" + u.Host + "/" + hex.EncodeToString(hash[:])
}

// entry is the page as the end of the call writes it.
func (p page) entry() (sdk.Write, error) {
	path := entryPath(p.address)
	if path != p.address {
		p.Address = p.address
	}
	attributes, err := json.Marshal(p)
	if err != nil {
		return sdk.Write{}, err
	}
	return sdk.Write{Path: path, Body: &p.text, Attributes: attributes, Visibility: sdk.Summarized}, nil
}

// kept is the page of an address that this run read a short while ago, in this form. What a model wrote there
// is none, nor what no server said to be good.
func (w *web) kept(ctx context.Context, address string, in reader.Form) (page, bool) {
	e, err := host.From(ctx).Entry(ctx, entryPath(address))
	if err != nil || e.Writer != sdk.WriterPlugin {
		return page{}, false
	}
	var p page
	if err := json.Unmarshal(e.Attributes, &p); err != nil {
		return page{}, false
	}
	age := w.now().Sub(p.Time)
	if p.Form != in || p.Status/100 != 2 || age < 0 || age >= fresh || p.Address != "" && p.Address != address {
		return page{}, false
	}
	p.address, p.text = address, e.Body
	return p, true
}
