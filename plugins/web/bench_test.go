package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"

	"github.com/bothyd/bothy/plugins/web/internal/reader"
	"github.com/bothyd/bothy/sdk/webguard"
)

// samplePage is a page of about so many bytes.
func samplePage(size int) string {
	const part = `<h2>Of <em>kettles</em></h2><p>They <b>boil</b> <a href="/water">water</a>, and stand on stoves; the oldest is of copper.</p>` +
		`<ul><li>one</li><li>two</li></ul><table><tr><th>kind</th><th>litres</th></tr><tr><td>small</td><td>1</td></tr></table>`
	return "<html><head><title>Kettles</title></head><body>" + strings.Repeat(part, size/len(part)) + "</body></html>"
}

func library() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
}

// BenchmarkFetch is what a page of 100 KB over the loopback costs more than with the same client and converter
// in one process (goal 3 ms).
func BenchmarkFetch(b *testing.B) {
	s := newSite(b, serves("text/html", samplePage(100_000)))
	client := webguard.Client(webguard.Options{Origins: s.settings.Origins})
	var alone, fetched time.Duration
	for b.Loop() {
		began := time.Now()
		resp, err := client.Get(s.URL)
		if err != nil {
			b.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		if err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
		if _, err := library().ConvertString(string(page)); err != nil {
			b.Fatal(err)
		}
		alone += time.Since(began)
		began = time.Now()
		s.get(b, "/", "fresh", true)
		fetched += time.Since(began)
	}
	b.ReportMetric(float64(alone.Microseconds())/1000/float64(b.N), "ms-alone")
	b.ReportMetric(float64((fetched-alone).Microseconds())/1000/float64(b.N), "ms-more")
}

// BenchmarkFetchAgain is a fetch that the run's entry answers (goal 2 ms).
func BenchmarkFetchAgain(b *testing.B) {
	s := newSite(b, serves("text/html", samplePage(100_000)))
	s.get(b, "/")
	for b.Loop() {
		s.get(b, "/")
	}
}

// BenchmarkMarkdown is HTML to Markdown against the library alone (goal 0.8 of its speed).
func BenchmarkMarkdown(b *testing.B) {
	page := samplePage(100_000)
	var alone, read time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := library().ConvertString(page, converter.WithDomain("https://example.org/")); err != nil {
			b.Fatal(err)
		}
		alone += time.Since(began)
		began = time.Now()
		if _, r := reader.Read(reader.Document{Kind: reader.HTML, Address: "https://example.org/", Form: reader.Markdown, Most: 1 << 20}, []byte(page)); r.Failed != "" {
			b.Fatal(r.Failed)
		}
		read += time.Since(began)
	}
	b.ReportMetric(float64(len(page))*float64(b.N)/1e6/read.Seconds(), "MB/s")
	b.ReportMetric(float64(alone)/float64(read), "of-library")
}

// BenchmarkSideBySide is 50 fetches at once of a server that takes 100 ms, in one such fetch (goal 1.5).
func BenchmarkSideBySide(b *testing.B) {
	s := newSite(b, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Millisecond) // the server that is measured
		serves("text/html", samplePage(2_000))(w, r)
	})
	var one, all, plugin, readers time.Duration
	for b.Loop() {
		began := time.Now()
		s.get(b, "/", "fresh", true)
		one += time.Since(began)
		own, children := processor(b, syscall.RUSAGE_SELF), processor(b, syscall.RUSAGE_CHILDREN)
		began = time.Now()
		var fetches sync.WaitGroup
		for range 50 {
			fetches.Go(func() {
				if _, err := s.ask(b.Context(), s.request(b)); err != nil {
					b.Error(err)
				}
			})
		}
		fetches.Wait()
		all += time.Since(began)
		plugin += processor(b, syscall.RUSAGE_SELF) - own
		readers += processor(b, syscall.RUSAGE_CHILDREN) - children
	}
	b.ReportMetric(float64(all)/float64(one), "of-one")
	b.ReportMetric(plugin.Seconds()*1000/50/float64(b.N), "ms-plugin")
	b.ReportMetric(readers.Seconds()*1000/50/float64(b.N), "ms-reader")
}

// processor is what this process, or those that it started and that ended, had of processors.
func processor(b *testing.B, who int) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(who, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func (s *site) request(t testing.TB) request {
	address, err := s.options.Judge(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return request{address: address, method: http.MethodGet, form: reader.Markdown}
}
