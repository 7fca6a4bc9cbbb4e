package reader

// Kind is what a document is, as far as it matters for reading it.
type Kind string

// The kinds of documents.
const (
	HTML  Kind = "html"
	PDF   Kind = "pdf"
	Text  Kind = "text"
	Other Kind = "" // what is named and not read
)

// Form is in which a page of HTML is read.
type Form string

// The forms of pages.
const (
	Markdown Form = "markdown"
	Main     Form = "main" // the article alone, as Markdown
	Raw      Form = "raw"  // its source
)

// Document is what a reader is told of the bytes that follow. Address is where they are from, which
// links in them are relative to.
type Document struct {
	Kind    Kind   `json:"kind"`
	Type    string `json:"type"` // as the server has it, with its charset
	Address string `json:"address"`
	Form    Form   `json:"form"`
	Most    int    `json:"most"` // bytes of text that are wanted
}

// Reading is what a reader tells of the text that follows.
type Reading struct {
	// Title is what the document calls itself, as it stands there but for its length.
	Title string `json:"title,omitempty"`
	Cut   bool   `json:"cut,omitempty"` // there is more text than was wanted
	// Length is how many bytes of text follow: who has them need not wait for the process to end.
	Length int `json:"length"`
	// Failed is why there is no text, as the end of a sentence about the document.
	Failed string `json:"failed,omitempty"`
}
