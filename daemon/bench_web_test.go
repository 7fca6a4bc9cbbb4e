package daemon

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/webguard"
)

// webBench is a daemon with the plugins web and fault, and servers on the loopback that the first may ask.
type webBench struct {
	*Daemon
	site    string // the origin of one of those
	hostile string // that of the other, which is asked for what is hostile
	client  client.Client
	project string
	run     string
}

func servingWeb(b *testing.B) *webBench {
	b.Helper()
	w := &webBench{site: servingHostile(b), hostile: servingHostile(b), project: b.TempDir()}
	w.Daemon = servingFaults(b, fmt.Sprintf("plugin \"web\" {\n  grants  = [\"entries\"]\n  origins = [%q, %q]\n}\nhosts {\n  allow = [\"127.0.0.1\"]\n}\n", w.site, w.hostile))
	p, err := w.store.OpenProject(b.Context(), w.project)
	if err != nil {
		b.Fatal(err)
	}
	run, err := w.store.CreateRun(b.Context(), sdk.Run{Project: p.ID, Agent: "default", Model: "m/none"})
	if err != nil {
		b.Fatal(err)
	}
	w.project, w.run = p.Root, run.Alias
	return w
}

// call makes a call in the run, on the socket.
func (w *webBench) call(ctx context.Context, tool string, arguments map[string]any) error {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	done, err := w.client.CallTool(ctx, rpc.ToolCall{Project: w.project, Run: w.run, Tool: tool, Arguments: raw})
	return failedCall(done.Result, err)
}

func (w *webBench) fetch(ctx context.Context, address string) error {
	return w.call(ctx, "web_fetch", map[string]any{"url": address, "fresh": true})
}

// BenchmarkWebFetch is what a page of 100 KB over the loopback costs with the client and the converter in this process, as a
// call of the plugin, which adds its wire and its reader, and as a call in a run, which adds what is kept of it.
func BenchmarkWebFetch(b *testing.B) {
	w := servingWeb(b)
	asker := webguard.Client(webguard.Options{Origins: []string{w.site}})
	library := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	alone := func() error {
		resp, err := asker.Get(w.site + "/page")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		_, err = library.ConvertString(string(page))
		return err
	}
	arguments, err := json.Marshal(map[string]any{"url": w.site + "/page", "fresh": true})
	if err != nil {
		b.Fatal(err)
	}
	call := sdk.Invocation{Tool: "web_fetch", Arguments: arguments, Run: "bench", Project: w.project, RunDir: b.TempDir()}
	plugin := func() error { return failedCall(w.host.Invoke(context.Background(), call, silence{})) }
	whole := func() error { return w.fetch(context.Background(), w.site+"/page") }
	var inOne, inPlugin, inRun []time.Duration
	for b.Loop() {
		timed(b, &inOne, alone)
		timed(b, &inPlugin, plugin)
		timed(b, &inRun, whole)
	}
	b.ReportMetric(float64((median(inPlugin)-median(inOne)).Microseconds())/1000, "ms-more")
	b.ReportMetric(float64((median(inRun)-median(inPlugin)).Microseconds())/1000, "ms-record")
	report(b, "a page of 100 KB fetched by the plugin against one process", fmt.Sprintf("%v more (%v against %v)", round(median(inPlugin)-median(inOne)), round(median(inPlugin)), round(median(inOne))), "at most 3ms")
	report(b, "the record of that fetch in a run", fmt.Sprintf("%v (%v in all)", round(median(inRun)-median(inPlugin)), round(median(inRun))), "")
}

// BenchmarkWebBeside compares calls of another plugin and fetches of small pages while hostile answers are
// read, those of each kind and all at once, with the same when nothing else is done.
func BenchmarkWebBeside(b *testing.B) {
	w := servingWeb(b)
	calls := map[string]func() error{
		"a call of another plugin": func() error { return w.call(context.Background(), "noop", map[string]any{}) },
		"a fetch of a text":        func() error { return w.fetch(context.Background(), w.site+"/text") },
		"a fetch of a page":        func() error { return w.fetch(context.Background(), w.site+"/small") },
	}
	const times = 50
	measure := func(b *testing.B, to map[string][]time.Duration) {
		for range times {
			for name, call := range calls {
				took := to[name]
				timed(b, &took, call)
				to[name] = took
			}
		}
	}
	var all []string
	for _, kind := range hostileKinds {
		all = append(all, kind.paths...)
	}
	for _, hostile := range append(hostileKinds, hostileKind{"all of these", all}) {
		b.Run(hostile.name, func(b *testing.B) {
			quiet, beside := map[string][]time.Duration{}, map[string][]time.Duration{}
			for b.Loop() {
				measure(b, quiet)
				stop := w.besiege(hostile.paths)
				measure(b, beside)
				stop()
			}
			for name := range calls {
				ratio(b, name+" beside "+hostile.name+", against nothing", "x-"+strings.ReplaceAll(strings.TrimPrefix(name, "a "), " ", "-"), beside[name], quiet[name], "at most 1.2x")
			}
		})
	}
}

// besiege has hostile answers asked for over and over, as fast as agents do, until it is stopped.
func (w *webBench) besiege(paths []string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var asked sync.WaitGroup
	var begun atomic.Int32
	for _, path := range paths {
		asked.Go(func() {
			for turn := time.NewTicker(250 * time.Millisecond); ctx.Err() == nil; {
				begun.Add(1)
				_ = w.fetch(ctx, w.hostile+path) // it fails, each in its own way
				select {
				case <-turn.C: // an agent asks a model between its calls
				case <-ctx.Done():
				}
			}
		})
	}
	for begun.Load() < int32(len(paths)) {
		time.Sleep(time.Millisecond)
	}
	return func() { cancel(); asked.Wait() }
}

// hostileServer names the environment variable that makes this binary a server of hostileSite: what it does costs neither
// the daemon nor who measures it.
const hostileServer = "BOTHY_BENCH_HOSTILE"

func serveHostile() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return http.Serve(l, hostileSite())
}

// servingHostile starts such a server, and is its origin.
func servingHostile(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), hostileServer+"=1")
	said := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return "http://" + strings.TrimSpace(line)
}

// hostileKind is what is hostile in one way.
type hostileKind struct {
	name  string
	paths []string
}

var hostileKinds = []hostileKind{
	{"bombs of gzip", []string{"/bomb"}},
	{"texts without end", []string{"/endless?type=text/plain"}},
	{"pages without end", []string{"/endless?type=text/html"}},
	{"PDFs without end", []string{"/endless?type=application/pdf"}},
	{"PDFs of 8 GB", []string{"/hungry"}},
	{"headers without end", []string{"/headers"}},
}

// hostileSite serves a page of 100 KB, small ones, and what no server should.
func hostileSite() http.Handler {
	const part = `<h2>Of <em>kettles</em></h2><p>They <b>boil</b> <a href="/water">water</a>, and stand on stoves; the oldest is of copper.</p>` +
		`<ul><li>one</li><li>two</li></ul><table><tr><th>kind</th><th>litres</th></tr><tr><td>small</td><td>1</td></tr></table>`
	page, small := strings.Repeat(part, 100_000/len(part)), strings.Repeat(part, 8)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 200 {
		_, _ = z.Write(make([]byte, 1<<20)) // a buffer takes all
	}
	_ = z.Close()
	hungry := hungryPDF()
	mux := http.NewServeMux()
	serve := func(path, header, encoding string, body []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", header)
			if encoding != "" {
				w.Header().Set("Content-Encoding", encoding)
			}
			_, _ = w.Write(body) // who hangs up has read enough
		})
	}
	serve("/page", "text/html", "", []byte(page))
	serve("/small", "text/html", "", []byte(small))
	serve("/text", "text/plain", "", []byte("here"))
	serve("/bomb", "text/html", "gzip", bomb.Bytes())
	serve("/hungry", "application/pdf", "", hungry)
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		for line := bytes.Repeat([]byte("<p>never over\n"), 1000); r.Context().Err() == nil; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_, err = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		for line := "X-More: " + strings.Repeat("x", 1000) + "\r\n"; err == nil; {
			_, err = io.WriteString(c, line)
		}
	})
	return mux
}

// hungryPDF has one page, whose text needs 8 GB: the same part of a stream of zlib, over and over.
func hungryPDF() []byte {
	var part, b bytes.Buffer
	z, err := flate.NewWriter(&part, flate.BestCompression)
	if err != nil {
		panic(err) // there is such a level
	}
	_, _ = z.Write(bytes.Repeat([]byte("BT (AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA) Tj ET\n"), 16<<10)) // a buffer takes all
	_ = z.Flush()
	text := "\x78\x9c" + strings.Repeat(part.String(), 2<<10)
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>",
		fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", len(text), text),
	}
	b.WriteString("%PDF-1.4\n")
	table := fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	fmt.Fprintf(&b, "%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", table, len(objects)+1, b.Len())
	return b.Bytes()
}
