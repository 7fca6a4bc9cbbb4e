// Command plainserver is an ordinary gRPC server on a Unix socket, without our SDK
// and with nobody who supervises it: what the host's benchmarks compare with.
package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func main() {
	ln, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	srv := grpc.NewServer()
	srv.RegisterService(&grpc.ServiceDesc{
		ServiceName: "plain.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Echo", Handler: echo}},
	}, srv)
	fmt.Println("ready")
	if err := srv.Serve(ln); err != nil {
		panic(err)
	}
}

func echo(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	in := &wrapperspb.BytesValue{}
	return in, read(in)
}
