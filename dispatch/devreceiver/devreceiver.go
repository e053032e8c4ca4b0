// Package devreceiver is a webhook receiver for development: it prints deliveries and
// verifies their signatures.
package devreceiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vayu/dispatch/webhook"
)

// Config configures a Listener.
type Config struct {
	// Data is the data directory, which contains the certificate.
	Data string
	// Port is the port of https://localhost; 0 chooses a free one.
	Port int
	// Secrets are the secrets with which deliveries may be signed. If there is a Client, its subscription gets the
	// first secret. If there are no Secrets, the service generates one.
	Secrets []string
	Answer  int           // HTTP status of replies, 200 to 599
	Delay   time.Duration // delay before each reply
	// Strict makes the listener reply 400 to deliveries that are not verified, as receivers should.
	Strict bool
	// Brief makes the listener print one line per delivery, without the body.
	Brief bool
	// Client creates a subscription when the listener starts; nil to create none.
	Client *Client
	// Out receives the printed text.
	Out io.Writer
	Now func() time.Time
}

// Listener receives and prints deliveries.
type Listener struct {
	Config

	mu    sync.Mutex                   // protects Out
	seen  *lru.Cache[string, struct{}] // ids of recent events, to detect duplicates
	ended atomic.Bool
}

// maxSeen is how many event ids are kept to detect duplicates. They need less than two megabytes.
const maxSeen = 10_000

// New returns a listener. It fails if the configuration is invalid.
func New(c Config) (*Listener, error) {
	switch {
	case c.Port < 0 || c.Port > 65535:
		return nil, fmt.Errorf("port %d: a port is 1 to 65535, or 0 for any that is free", c.Port)
	case c.Answer < 200 || c.Answer > 599:
		return nil, fmt.Errorf("answer %d: an HTTP status is 200 to 599", c.Answer)
	case c.Delay < 0:
		return nil, fmt.Errorf("delay %s: an answer cannot come before its request", c.Delay)
	case slices.Contains(c.Secrets, ""):
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
	seen, err := lru.New[string, struct{}](maxSeen)
	return &Listener{Config: c, seen: seen}, err
}

const stopTimeout = 5 * time.Second

// Run receives deliveries until ctx ends. If there is a Client, Run first creates a subscription, and deletes it at the
// end. It also deletes subscriptions to the same address from earlier runs that were killed.
func (l *Listener) Run(ctx context.Context) error {
	certificate, err := Certificate(l.Data)
	if err != nil {
		return err
	}
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is taken by another program; choose another with --port: %w", l.Port, err)
	}
	if err != nil {
		return fmt.Errorf("listening on port %d: %w", l.Port, err)
	}
	defer func() { _ = socket.Close() }()
	subscribed, err := l.subscribe(ctx, fmt.Sprintf("https://localhost:%d/", socket.Addr().(*net.TCPAddr).Port))
	if err != nil {
		return err
	}
	requests, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	server := &http.Server{
		Handler: l, ErrorLog: log.New(connectionLog{l}, "", 0), BaseContext: func(net.Listener) context.Context { return requests },
		MaxHeaderBytes: 64 << 10, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		l.ended.Store(true)
		abort() // ends delayed replies
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err := l.unsubscribe(limit, subscribed) // before the shutdown, so that the service stops sending
		_ = server.Shutdown(limit)
		stopped <- err
	})
	defer stop()
	if err := server.ServeTLS(socket, certificate, certificate); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTPS with %s: %w", certificate, err)
	}
	return <-stopped
}

// subscribe creates a subscription with l.Client, prints how to send a test event, and requests one if Client.Test is
// set. It returns the id of the subscription. Without a Client, it creates none and returns "".
func (l *Listener) subscribe(ctx context.Context, address string) (id string, err error) {
	const trust = "A service sends to it if it was started with --webhook-local and with the same --data, %s.\n"
	if l.Client == nil {
		l.printf("Listening on %s; Ctrl-C ends it.\n"+trust, address, l.Data)
		if len(l.Secrets) == 0 {
			l.printf("Signatures are not verified: give --secret, or --key to have a subscription made.\n")
		}
		return "", nil
	}
	secret := ""
	if len(l.Secrets) > 0 {
		secret = l.Secrets[0]
	}
	made, err := l.Client.subscribe(ctx, address, secret)
	if err != nil {
		return "", err
	}
	l.Secrets = append(slices.Clip(l.Secrets), made.Secret)
	l.printf("Listening on %s for the subscription %s (%s), which ends with this command: Ctrl-C.\n"+trust, address, made.ID, oneLine(made.Mode), l.Data)
	test := webhooks + "/" + made.ID + "/test"
	l.printf("\nSend a test event:\n\n  curl -X POST -H \"Authorization: Bearer %s\" -H \"Content-Type: application/json\" -d '{}' %s\n\n",
		l.Client.KeyShown, l.Client.API+test)
	if l.Client.Test {
		if _, err := call[struct{}](ctx, l.Client, http.MethodPost, test, struct{}{}); err != nil {
			l.printf("No test event is on its way: %v\n\n", err)
		}
	}
	return made.ID, nil
}

// unsubscribe deletes the subscription of this run, if there is one.
func (l *Listener) unsubscribe(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	err := l.Client.unsubscribe(ctx, id)
	if err == nil {
		l.printf("\nThe subscription %s is deleted.\n", id)
	}
	return err
}
