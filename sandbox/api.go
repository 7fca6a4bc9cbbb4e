package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/containers/podman/v5/pkg/bindings"
	"github.com/containers/podman/v5/pkg/errorhandling"
)

// apiTimeout bounds one request to Podman. The first container of a large image
// takes seconds; nothing takes a minute but a service that hangs.
const apiTimeout = time.Minute

// api is Podman's REST interface, as far as we use it.
type api struct {
	conn    *bindings.Connection
	version string
}

// connect opens the service at a socket path and asks for its version.
func connect(ctx context.Context, socket string) (*api, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ctx, err := bindings.NewConnection(ctx, "unix://"+socket)
	if err != nil {
		return nil, err
	}
	conn, err := bindings.GetClient(ctx)
	if err != nil {
		return nil, err
	}
	return &api{conn: conn, version: bindings.ServiceVersion(ctx).String()}, nil
}

func (a *api) close() {
	a.conn.Client.CloseIdleConnections()
}

func (a *api) do(ctx context.Context, method, endpoint string, params url.Values, body io.Reader, out any, values ...string) error {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	header := http.Header{}
	if body != nil {
		header.Set("Content-Type", "application/json")
		if endpoint == "/images/import" {
			header.Set("Content-Type", "application/x-tar")
		}
	}
	response, err := a.conn.DoRequest(ctx, body, method, endpoint, params, header, values...)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return response.Process(out)
}

// notFound says whether Podman answered that a thing does not exist.
func notFound(err error) bool {
	model, ok := errors.AsType[*errorhandling.ErrorModel](err)
	return ok && model.ResponseCode == http.StatusNotFound
}

// answered says whether err is Podman's answer, not a failure to reach it.
func answered(err error) bool {
	_, ok := errors.AsType[*errorhandling.ErrorModel](err)
	return ok
}

// hostInfo is the part of Podman's info that matters to us. The same JSON comes
// from the service and from the info command.
type hostInfo struct {
	Host struct {
		CgroupManager     string   `json:"cgroupManager"`
		CgroupVersion     string   `json:"cgroupVersion"`
		CgroupControllers []string `json:"cgroupControllers"`
		IDMappings        struct {
			UIDMap []idMapping `json:"uidmap"`
		} `json:"idMappings"`
		OCIRuntime struct {
			Name string `json:"name"`
			Path string `json:"path"`
		} `json:"ociRuntime"`
		// Slirp and Pasta are what a rootless container's network is made
		// with; the path is empty when the program is not installed.
		Slirp    program `json:"slirp4netns"`
		Pasta    program `json:"pasta"`
		Security struct {
			Rootless bool `json:"rootless"`
			Seccomp  bool `json:"seccompEnabled"`
		} `json:"security"`
	} `json:"host"`
	Store struct {
		Driver string `json:"graphDriverName"`
	} `json:"store"`
	Version struct {
		Version string `json:"Version"`
	} `json:"version"`
}

type program struct {
	Executable string `json:"executable"`
}

type idMapping struct {
	ContainerID int64 `json:"container_id"`
	HostID      int64 `json:"host_id"`
	Size        int64 `json:"size"`
}

func (a *api) info(ctx context.Context) (hostInfo, error) {
	var info hostInfo
	return info, a.do(ctx, http.MethodGet, "/info", nil, nil, &info)
}

func (a *api) imageExists(ctx context.Context, name string) (bool, error) {
	err := a.do(ctx, http.MethodGet, "/images/%s/exists", nil, nil, nil, name)
	if notFound(err) {
		return false, nil
	}
	return err == nil, err
}

func (a *api) importImage(ctx context.Context, name string, tar []byte) error {
	return a.do(ctx, http.MethodPost, "/images/import", url.Values{"reference": {name}}, bytes.NewReader(tar), nil)
}

func (a *api) create(ctx context.Context, spec containerSpec) (id string, warnings []string, err error) {
	body, err := json.Marshal(spec)
	if err != nil {
		return "", nil, fmt.Errorf("encode the container's description: %w", err)
	}
	var made struct {
		ID       string   `json:"Id"`
		Warnings []string `json:"Warnings"`
	}
	err = a.do(ctx, http.MethodPost, "/containers/create", nil, bytes.NewReader(body), &made)
	return made.ID, made.Warnings, err
}

func (a *api) start(ctx context.Context, id string) error {
	return a.do(ctx, http.MethodPost, "/containers/%s/start", nil, nil, nil, id)
}

// containerState is what Podman says of a container now.
type containerState struct {
	State struct {
		Running bool `json:"Running"`
		Pid     int  `json:"Pid"`
		// ConmonPid is Podman's own process beside the container; it ends a
		// moment after it.
		ConmonPid int `json:"ConmonPid"`
	} `json:"State"`
}

func (a *api) inspect(ctx context.Context, id string) (containerState, error) {
	var state containerState
	return state, a.do(ctx, http.MethodGet, "/containers/%s/json", nil, nil, &state, id)
}

// remove ends and removes a container at once; one that is gone already is no
// error.
func (a *api) remove(ctx context.Context, id string) error {
	params := url.Values{"force": {"true"}, "timeout": {"0"}, "v": {"true"}}
	err := a.do(ctx, http.MethodDelete, "/containers/%s", params, nil, nil, id)
	if notFound(err) {
		return nil
	}
	return err
}

// listed is a container as the list shows it.
type listed struct {
	ID     string            `json:"Id"`
	Labels map[string]string `json:"Labels"`
	State  string            `json:"State"`
	Pid    int               `json:"Pid"`
}

// list finds containers by label, running or not.
func (a *api) list(ctx context.Context, label, value string) ([]listed, error) {
	filter, err := json.Marshal(map[string][]string{"label": {label + "=" + value}})
	if err != nil {
		return nil, err
	}
	var found []listed
	params := url.Values{"all": {"true"}, "filters": {string(filter)}}
	return found, a.do(ctx, http.MethodGet, "/containers/json", params, nil, &found)
}
