package wire

import (
	"errors"
	"io"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// AuthStep writes a step of signing in. One that holds nothing is refused: the other side
// could not tell it from a message of a later version.
func AuthStep(s sdk.AuthStep) (*pb.AuthenticateResponse, error) {
	switch {
	case s.Open != "":
		return &pb.AuthenticateResponse{Step: &pb.AuthenticateResponse_Open{Open: Text(s.Open)}}, nil
	case s.Code != "":
		return &pb.AuthenticateResponse{Step: &pb.AuthenticateResponse_Code{Code: Text(s.Code)}}, nil
	case s.Wait != nil:
		w := &pb.AuthenticateWait{Message: Text(s.Wait.Message)}
		if !s.Wait.Until.IsZero() {
			w.UntilUnixMs = s.Wait.Until.UnixMilli()
		}
		return &pb.AuthenticateResponse{Step: &pb.AuthenticateResponse_Wait{Wait: w}}, nil
	case s.Done != nil:
		return &pb.AuthenticateResponse{Step: &pb.AuthenticateResponse_Done{Done: &pb.AuthenticateDone{Account: Text(s.Done.Account), Secret: Text(s.Done.Secret)}}}, nil
	}
	return nil, errors.New("an empty step was shown")
}

// AuthFailure writes why a sign-in ended.
func AuthFailure(err error) *pb.AuthenticateResponse {
	return &pb.AuthenticateResponse{Step: &pb.AuthenticateResponse_Failure{Failure: Failure(err)}}
}

// AuthSteps reads a sign-in to its end. A step of a later version is skipped; a stream
// that ends before Done is an error.
func AuthSteps(receive func() (*pb.AuthenticateResponse, error), show func(sdk.AuthStep) error) error {
	done := false
	for {
		m, err := receive()
		switch {
		case errors.Is(err, io.EOF) && done:
			return nil
		case errors.Is(err, io.EOF):
			return sdk.Errorf(sdk.Internal, "the sign-in ended and nobody is signed in")
		case err != nil:
			return err
		}
		var step sdk.AuthStep
		switch s := m.GetStep().(type) {
		case *pb.AuthenticateResponse_Failure:
			return Error(s.Failure)
		case *pb.AuthenticateResponse_Open:
			step.Open = s.Open
		case *pb.AuthenticateResponse_Code:
			step.Code = s.Code
		case *pb.AuthenticateResponse_Wait:
			step.Wait = &sdk.AuthWait{Message: s.Wait.GetMessage()}
			if ms := s.Wait.GetUntilUnixMs(); ms != 0 {
				step.Wait.Until = time.UnixMilli(ms)
			}
		case *pb.AuthenticateResponse_Done:
			step.Done, done = &sdk.AuthDone{Account: s.Done.GetAccount(), Secret: s.Done.GetSecret()}, true
		}
		if step == (sdk.AuthStep{}) {
			continue
		}
		if err := show(step); err != nil {
			return err
		}
	}
}
