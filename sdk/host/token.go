package host

import (
	"context"
	"crypto/subtle"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// RequireToken has a server refuse each request that does not show the token of
// Configure; refused, unless it is nil, is called for each of them.
func RequireToken(token string, refused func()) []grpc.ServerOption {
	check := func(ctx context.Context) error {
		shown := metadata.ValueFromIncomingContext(ctx, TokenKey)
		if len(shown) == 1 && subtle.ConstantTimeCompare([]byte(shown[0]), []byte(token)) == 1 {
			return nil
		}
		if refused != nil {
			refused()
		}
		return status.Errorf(codes.Unauthenticated, "send the token of Configure in the metadata key %s", TokenKey)
	}
	unary := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if err := check(ctx); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
	stream := func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if err := check(s.Context()); err != nil {
			return err
		}
		return next(srv, s)
	}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(unary), grpc.ChainStreamInterceptor(stream)}
}
