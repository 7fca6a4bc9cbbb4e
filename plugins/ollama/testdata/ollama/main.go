// Command ollama stands in for Ollama in tests: `ollama serve` serves at OLLAMA_HOST
// what of its API the plugin uses. What it has and does is said by files in
// $HOME/.ollama: each in models is a model; with broken it does not start; with
// endless a pull has no end, until it is given up, of which the file gaveup tells. The
// file pid has its process, serving says where it serves and what of its environment it
// sees, and asked-with has the key that the last listing came with.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 || os.Args[1] != "serve" {
		log.Fatal("usage: ollama serve")
	}
	if exists("broken") {
		log.Fatal("Error: the disk is on fire")
	}
	write("pid", fmt.Sprint(os.Getpid()))
	if exists("slow") {
		time.Sleep(3 * time.Second)
	}
	write("serving", os.Getenv("OLLAMA_HOST")+" "+os.Getenv("OLLAMA_MODELS")+" "+os.Getenv("OLLAMA_API_KEY"))
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Ollama is running") })
	http.HandleFunc("GET /api/tags", tags)
	http.HandleFunc("POST /api/show", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"capabilities":["completion","tools"],"model_info":{"x.context_length":8192}}`)
	})
	http.HandleFunc("POST /api/chat", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"message":{"content":"hello from ollama"},"done":true,"done_reason":"stop"}`)
	})
	http.HandleFunc("POST /api/pull", pull)
	log.Fatal(http.ListenAndServe(os.Getenv("OLLAMA_HOST"), nil))
}

func path(parts ...string) string {
	return filepath.Join(append([]string{os.Getenv("HOME"), ".ollama"}, parts...)...)
}

func exists(name string) bool { _, err := os.Stat(path(name)); return err == nil }

func write(name, text string) {
	if err := os.MkdirAll(filepath.Dir(path(name)), 0o700); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
}

func tags(w http.ResponseWriter, r *http.Request) {
	write("asked-with", r.Header.Get("Authorization"))
	entries, _ := os.ReadDir(path("models")) // no folder, no models
	list := []string{}
	for _, e := range entries {
		list = append(list, fmt.Sprintf(`{"name":%q,"digest":%q,"details":{"parameter_size":"8.0B"}}`, e.Name(), e.Name()))
	}
	fmt.Fprintf(w, `{"models":[%s]}`, strings.Join(list, ","))
}

func pull(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Model string }
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	say := func(format string, args ...any) {
		fmt.Fprintf(w, format+"\n", args...)
		w.(http.Flusher).Flush()
	}
	say(`{"status":"pulling manifest"}`)
	if asked.Model == "nowhere" {
		say(`{"error":"pull model manifest: file does not exist"}`)
		return
	}
	say(`{"status":"pulling abc","digest":"sha256:abc","total":2000000,"completed":500000}`)
	if exists("endless") {
		<-r.Context().Done()
		write("gaveup", asked.Model)
		return
	}
	say(`{"status":"pulling abc","digest":"sha256:abc","total":2000000,"completed":2000000}`)
	if !strings.Contains(asked.Model, ":") {
		asked.Model += ":latest"
	}
	write("models/"+asked.Model, "")
	say(`{"status":"success"}`)
}
