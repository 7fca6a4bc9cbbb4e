// The program probe asks for an address as any program does that is built with package
// webguard, and asks the resolver that others use for localhost.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/bothyd/bothy/sdk/webguard"
)

func main() {
	if _, err := net.DefaultResolver.LookupHost(context.Background(), "localhost"); err != nil {
		fmt.Println(err)
	}
	resp, err := webguard.Client(webguard.Options{}).Get(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
