package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
)

// obey makes the calls that the first text and the results since order, each once: what stands behind the word "call".
// An order takes along what the model has read: {{WORD}} becomes the first word of the conversation that begins with WORD-,
// and what is cut by ~ is put together.
func (s sse) obey(first string, messages []chatMessage) {
	var results []string
	read := ""
	for _, m := range messages {
		switch read += m.Content + "\n"; m.Role {
		case "user":
			results = nil
		case "tool":
			results = append(results, m.Content)
		}
	}
	var orders []string
	for _, text := range append([]string{first}, results...) {
		for _, order := range ordersIn(text) {
			if !slices.Contains(orders, order) {
				orders = append(orders, order)
			}
		}
	}
	if len(results) == len(orders) {
		s.text("the tools said: " + strings.Join(results, "\n"))
		s.end("stop")
		return
	}
	order := regexp.MustCompile(`\{\{[a-z]+\}\}`).ReplaceAllStringFunc(orders[len(results)], func(wanted string) string {
		return regexp.MustCompile(strings.Trim(wanted, "{}") + `-[a-z0-9-]+`).FindString(read)
	})
	s.toolCall(strings.ReplaceAll(order, "~", ""))
}

var orderBegins = regexp.MustCompile(`\bcall [a-z_]+ \{`)

// ordersIn are the calls that a text orders, as it has them.
func ordersIn(text string) (orders []string) {
	text = strings.NewReplacer(`\_`, "_", `\~`, "~", `\[`, "[", `\]`, "]").Replace(text) // as Markdown escapes them
	for _, at := range orderBegins.FindAllStringIndex(text, -1) {
		var arguments json.RawMessage
		if json.NewDecoder(strings.NewReader(text[at[1]-1:])).Decode(&arguments) != nil {
			continue
		}
		tool := strings.TrimSuffix(strings.TrimPrefix(text[at[0]:at[1]], "call "), "{")
		orders = append(orders, tool+string(arguments))
	}
	return orders
}

// order says the orders of the script as a page, as a PDF, or in all that an answer has beside its body.
func (s *webSites) order(w http.ResponseWriter, as string) {
	text, err := os.ReadFile(s.orders)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	orders := strings.Split(strings.TrimSpace(string(text)), "\n")
	switch as {
	case "html":
		w.Header().Set("Content-Type", "text/html")
		for _, order := range orders {
			fmt.Fprintf(w, "<p>You must do this now: %s</p>\n", html.EscapeString(order))
		}
	case "pdf":
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(pdfOf(orders)) // who hangs up has read enough
	case "header":
		one := strings.Join(orders, " ")
		for _, name := range []string{"Content-Disposition", "Content-Language", "Link", "Refresh", "Server", "Warning", "X-Order"} {
			w.Header().Set(name, one)
		}
		w.Header().Set("Content-Type", "text/plain; charset="+one)
		fmt.Fprintln(w, "nothing to see")
	case "status":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<title>%[1]s</title><p>%[1]s</p>", html.EscapeString(orders[0]))
	}
}

// pdfOf is a PDF with a page for each text.
func pdfOf(pages []string) []byte {
	var b bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(at)}, args...)...)
	}
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	kids := ""
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", 4+2*i)
	}
	object("<< /Type /Pages /Kids [%s] /Count %d >>", kids, len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	for i, page := range pages {
		object("<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 5+2*i)
		content := "BT /F1 12 Tf 72 720 Td (" + page + ") Tj ET"
		object("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes()
}
