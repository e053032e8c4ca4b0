// Package mail sends the mails of the service. A mail is a row of a table until it is sent, so a crash loses none.
package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"

	"vayu/internal/config"
)

// DefaultFrom is the sender of mails if no sender is set.
const DefaultFrom = "vayu@localhost"

// limit is the time limit of an attempt to send a mail.
const limit = time.Minute

// Sender sends mails, or writes them to files if there is no mail server. It is safe for concurrent use.
type Sender struct {
	From string     // sender, such as Vayu <no-reply@example.com>; empty for DefaultFrom
	SMTP config.DSN // mail server; empty for files in Data/mail
	Data string     // the data directory
	Log  *slog.Logger
	Now  func() time.Time
}

// Message is a mail in plain text.
type Message struct {
	ID                string // key of its row, and name of its file
	To, Subject, Text string
}

// Send sends a mail to the mail server, or writes it to a file if SMTP is empty. It does not retry.
func (s *Sender) Send(ctx context.Context, m Message) error {
	out := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(out.From(cmp.Or(s.From, DefaultFrom)), out.To(m.To)); err != nil {
		return err
	}
	out.Subject(m.Subject)
	out.SetDateWithValue(s.Now())
	out.SetMessageID()
	out.SetBodyString(mail.TypeTextPlain, m.Text)
	if s.SMTP == "" {
		return s.write(ctx, out, m.ID)
	}
	client, err := newClient(string(s.SMTP))
	if err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, limit)
	defer done()
	return client.DialAndSendWithContext(ctx, out)
}

// newClient returns a client of the mail server at a URL. TLS is mandatory, unless the server is on this machine.
func newClient(address string) (*mail.Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the mail server is invalid") // err would show the password
	}
	policy := mail.TLSMandatory
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		policy = mail.TLSOpportunistic
	}
	options := []mail.Option{
		mail.WithTLSPortPolicy(policy), mail.WithTimeout(limit), mail.WithTLSConfig(&tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}),
	}
	if u.Scheme == "smtps" {
		options = append(options, mail.WithSSLPort(false))
	}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		options = append(options, mail.WithPort(port))
	}
	if password, ok := u.User.Password(); ok {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(u.User.Username()), mail.WithPassword(password))
	}
	return mail.NewClient(u.Hostname(), options...)
}

func (s *Sender) file(id string) string { return filepath.Join(s.Data, "mail", id+".eml") }

// write writes a mail to a file in the data directory. Only the owner of the file may read it, because a link in the
// mail may give access to an account.
func (s *Sender) write(ctx context.Context, m *mail.Msg, id string) error {
	path := s.file(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = m.WriteTo(file)
	if err = errors.Join(err, file.Close()); err == nil {
		s.Log.InfoContext(ctx, "no mail server is set, so a mail is in a file", "file", path)
	}
	return err
}

// Remove removes the file of a mail, if there is one.
func (s *Sender) Remove(id string) error { return os.RemoveAll(s.file(id)) }
