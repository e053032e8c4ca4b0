package signup_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"vayu/internal/testing/fixture"
)

// trusted is the authority that this process trusts. crypto/x509 reads the variable once, so TestMain sets it.
var trusted struct {
	sync.Once
	*fixture.Authority
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "vayu-signup-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("SSL_CERT_FILE", filepath.Join(dir, "ca.pem"))
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// mailbox is a mail server on loopback, which demands STARTTLS and a password, and keeps the mails.
type mailbox struct {
	address string
	mu      sync.Mutex
	mails   []string // the sender and the receiver of the envelope, and the message
	refuse  bool
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	trusted.Do(func() {
		trusted.Authority = fixture.NewAuthority(t)
		raw, err := os.ReadFile(trusted.CA())
		if err == nil {
			err = os.WriteFile(os.Getenv("SSL_CERT_FILE"), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	b := &mailbox{}
	secure := &tls.Config{Certificates: []tls.Certificate{trusted.Server("localhost")}, MinVersion: tls.VersionTLS12}
	listener := fixture.Listen(t, nil, func(conn net.Conn) { b.serve(conn, secure) })
	b.address = listener.Addr().String()
	return b
}

// login is the only user and password, as AUTH PLAIN has them.
var login = base64.StdEncoding.EncodeToString([]byte("\x00vayu\x00p@ss"))

func (b *mailbox) serve(conn net.Conn, secure *tls.Config) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	say := func(line string) { _, _ = fmt.Fprintf(conn, "%s\r\n", line) }
	say("220 localhost ESMTP")
	var mail string
	encrypted, known := false, false
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		verb, rest, _ := strings.Cut(line, " ")
		switch verb = strings.ToUpper(verb); {
		case verb == "EHLO" && !encrypted:
			say("250-localhost\r\n250 STARTTLS")
		case verb == "EHLO":
			say("250-localhost\r\n250 AUTH PLAIN")
		case verb == "STARTTLS":
			say("220 go")
			conn = tls.Server(conn, secure)
			r, encrypted = bufio.NewReader(conn), true
		case verb == "AUTH" && encrypted && rest == "PLAIN "+login:
			known = true
			say("235 ok")
		case verb == "AUTH":
			say("535 no")
		case verb == "NOOP" || verb == "RSET":
			say("250 ok")
		case verb == "QUIT":
			say("221 bye")
			return
		case !known:
			say("530 log in first")
		case verb == "MAIL" || verb == "RCPT":
			mail += line + "\n"
			say("250 ok")
		case verb == "DATA":
			say("354 go")
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				mail += line
			}
			b.mu.Lock()
			if b.refuse {
				say("451 later, asha@example.com")
			} else {
				b.mails = append(b.mails, mail)
				say("250 kept")
			}
			b.mu.Unlock()
		default:
			say("500 what")
		}
	}
}

// take returns the mails so far, and removes them.
func (b *mailbox) take() (mails []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mails, b.mails = b.mails, nil
	return mails
}

func (b *mailbox) setRefuse(refuse bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = refuse
}
