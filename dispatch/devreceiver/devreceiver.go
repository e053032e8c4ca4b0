// Package devreceiver is a webhook receiver for development: it prints deliveries and
// verifies their signatures.
package devreceiver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"vayu/dispatch/webhook"
)

// Config configures a Listener.
type Config struct {
	// Data is the data directory, which has the certificate authority.
	Data string
	// Port is the port of https://localhost; 0 chooses a free one, on 127.0.0.1 only.
	Port int
	// Secrets are the accepted secrets. With a Client, the subscription gets the first
	// secret; if there is none, the service generates one.
	Secrets []string
	Answer  int           // HTTP status of replies, 200 to 599
	Delay   time.Duration // before each reply
	// Strict replies 400 to deliveries that are not verified, as receivers should.
	Strict bool
	// Brief prints one line per delivery, without the body.
	Brief bool
	// Client creates the subscription of a run; nil for a run that creates none.
	Client *Client
	// Program is the name of this program in printed commands; "" for vayu.
	Program string
	// Out gets the text for a person. Control characters from senders are escaped.
	Out io.Writer
	Now func() time.Time
}

// Listener receives and prints deliveries.
type Listener struct {
	Config
	printer *printer
	seen    *lru.Cache[string, first] // the first delivery of each recent event
}

// New returns a listener. It fails if the configuration is invalid.
func New(c Config) (*Listener, error) {
	switch {
	case c.Port < 0 || c.Port > 65535:
		return nil, fmt.Errorf("port %d: a port is 1 to 65535, or 0 for any that is free", c.Port)
	case c.Answer < 200 || c.Answer > 599:
		return nil, fmt.Errorf("answer %d: an HTTP status is 200 to 599", c.Answer)
	case c.Delay < 0:
		return nil, fmt.Errorf("delay %s: an answer cannot come before its request", c.Delay)
	}
	if slices.Contains(c.Secrets, "") {
		return nil, webhook.ErrNoSecret
	}
	if c.Client != nil {
		if err := c.Client.check(); err != nil {
			return nil, err
		}
	}
	var err error
	if c.Data, err = filepath.Abs(c.Data); err != nil {
		return nil, fmt.Errorf("finding the data directory: %w", err)
	}
	seen, err := lru.New[string, first](maxRemembered)
	return &Listener{Config: c, printer: &printer{out: c.Out, now: c.Now, brief: c.Brief}, seen: seen}, err
}

// patience limits two steps of a stop: the deletion of the subscription, and the drain of replies.
const patience = 5 * time.Second

// errEnding is the cancellation cause of requests at a stop.
var errEnding = errors.New("the receiver is ending")

// Run creates a subscription if there is a Client, receives until ctx ends, and then deletes the
// subscription. At the start, it deletes subscriptions to the same address, left by a killed run.
func (l *Listener) Run(ctx context.Context) error {
	leaf, err := certificate(l.Data, l.Now())
	if err != nil {
		return err
	}
	sockets, err := l.open(ctx)
	if err != nil {
		return err
	}
	port := sockets[0].Addr().(*net.TCPAddr).Port
	address := "https://localhost:" + strconv.Itoa(port) + "/"
	subscribed := ""
	if l.Client != nil {
		if subscribed, err = l.subscribe(ctx, address); err != nil {
			closeAll(sockets)
			return err
		}
	} else {
		l.greetUnsubscribed(address)
	}
	err = l.serve(ctx, sockets, leaf, subscribed)
	l.printer.end()
	return err
}

// open listens on both addresses of localhost, because another program could otherwise
// receive deliveries on ::1. With Port 0 it listens on 127.0.0.1 only.
func (l *Listener) open(ctx context.Context) ([]net.Listener, error) {
	first, err := l.socket(ctx, "tcp4", "127.0.0.1")
	if err != nil || l.Port == 0 {
		return []net.Listener{first}, err
	}
	second, err := l.socket(ctx, "tcp6", "::1")
	switch {
	case err == nil:
		return []net.Listener{first, second}, nil
	case errors.Is(err, syscall.EADDRINUSE):
		closeAll([]net.Listener{first})
		return nil, err
	}
	return []net.Listener{first}, nil // a machine without IPv6
}

func (l *Listener) socket(ctx context.Context, network, host string) (net.Listener, error) {
	s, err := new(net.ListenConfig).Listen(ctx, network, net.JoinHostPort(host, strconv.Itoa(l.Port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d is taken by another program; choose another with --port: %w", l.Port, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listening on port %d: %w", l.Port, err)
	}
	return s, nil
}

func closeAll(sockets []net.Listener) {
	for _, s := range sockets {
		_ = s.Close()
	}
}

// serve serves until ctx ends. It then deletes the subscription, so that the service stops
// sending, before it shuts the server down.
func (l *Listener) serve(ctx context.Context, sockets []net.Listener, leaf tls.Certificate, subscribed string) error {
	requests, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	server := &http.Server{
		Handler: l, ErrorLog: log.New(l.printer, "", 0), BaseContext: func(net.Listener) context.Context { return requests },
		TLSConfig:      &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{leaf}},
		MaxHeaderBytes: 64 << 10, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
	}
	group, running := errgroup.WithContext(ctx)
	for _, s := range sockets {
		group.Go(func() error {
			if err := server.ServeTLS(s, "", ""); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serving HTTPS: %w", err)
			}
			return nil
		})
	}
	group.Go(func() error {
		l.try(running, subscribed)
		return nil
	})
	group.Go(func() error {
		<-running.Done()
		l.printer.ending()
		end(errEnding)
		err := l.unsubscribe(ctx, subscribed)
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		if server.Shutdown(limit) != nil {
			_ = server.Close() // replies in flight are lost
		}
		return err
	})
	return group.Wait()
}
