package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// authority issues the certificates of a world.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Proof is how a server of TLS proves itself.
type Proof struct {
	Names      []string // that its certificate is for
	Expired    bool
	SelfSigned bool // and not issued by the world's authority
}

// ServeTLS serves HTTPS at a port of the world until the test ends.
func (w *World) ServeTLS(port int, proof Proof, handler http.Handler) {
	w.t.Helper()
	ca := w.authority()
	key := w.newKey()
	now := time.Now()
	cert := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: proof.Names, NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(24 * time.Hour)}
	if proof.Expired {
		cert.NotAfter = now.Add(-24 * time.Hour)
	}
	if proof.SelfSigned {
		ca = authority{cert, key}
	}
	raw, err := x509.CreateCertificate(rand.Reader, cert, ca.cert, &key.PublicKey, ca.key)
	if err != nil {
		w.t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}, NextProtos: []string{"h2", "http/1.1"}}
	w.ServeAt(tls.NewListener(w.Listen(port), config), handler)
}

// Roots are the world's own authority, for clients in the test itself.
func (w *World) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(w.authority().cert)
	return pool
}

// RootsFile is a file with the world's own authority, for SSL_CERT_FILE of a program.
func (w *World) RootsFile() string {
	file := filepath.Join(w.t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.authority().cert.Raw})
	if err := os.WriteFile(file, text, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return file
}

func (w *World) authority() authority {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ca.cert != nil {
		return w.ca
	}
	key := w.newKey()
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		w.t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(raw); err != nil {
		w.t.Fatal(err)
	}
	w.ca = authority{cert, key}
	return w.ca
}

func (w *World) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	return key
}

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
