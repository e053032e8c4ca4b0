package mqtt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eclipse/paho.golang/packets"
	paho5 "github.com/eclipse/paho.golang/paho"

	"vayu/ingest/stream"
)

// message is a received message, with the function that acknowledges it.
type message struct {
	stream.Message

	connection int          // number of the connection that received it
	duplicate  bool         // the broker marks it as sent before
	ack        func() error // does nothing for QoS 0
}

// connection is a connection to a broker with its subscriptions.
type connection struct {
	lost  <-chan error // receives why the connection has ended
	close func()       // ends the connection; the broker keeps the session
}

// open connects and subscribes. It calls the function `deliver` for each message, in order, from one goroutine. When
// the connection ends, `deliver` must return.
func (s *Settings) open(ctx context.Context, deliver func(message)) (*connection, error) {
	if s.Version == Version311 {
		return s.open3(ctx, deliver)
	}
	return s.open5(ctx, deliver)
}

// lastAcks is how long a connection stays open at a stop, so that acknowledgements reach the broker. The MQTT clients
// do not report when acknowledgements are sent. If one is lost, the broker sends the message again. If the message
// states its time, the repeated reading replaces the first. Otherwise it has a new time and is stored, too.
const lastAcks = 50 * time.Millisecond

// open5 implements [Settings.open] for MQTT 5.
func (s *Settings) open5(ctx context.Context, deliver func(message)) (*connection, error) {
	conn, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	lost := make(chan error, 1)
	ended := func(err error) {
		select {
		case lost <- err:
		default: // the first error counts
		}
	}
	client := paho5.NewClient(paho5.ClientConfig{
		ClientID: s.ClientID, Conn: packets.NewThreadSafeConn(conn), PacketTimeout: packetTimeout,
		EnableManualAcknowledgment: true, SendAcksInterval: lastAcks / 10,
		OnPublishReceived: []func(paho5.PublishReceived) (bool, error){func(p paho5.PublishReceived) (bool, error) {
			m := p.Packet
			deliver(message{
				Message:   stream.Message{Topic: m.Topic, Payload: m.Payload, At: time.Now(), Retained: m.Retain},
				duplicate: m.Duplicate(), ack: func() error { return p.Client.Ack(m) },
			})
			return true, nil
		}},
		OnClientError: ended,
		OnServerDisconnect: func(d *paho5.Disconnect) {
			ended(fmt.Errorf("the broker has disconnected with the code %d", d.ReasonCode))
		},
	})
	maximum, expiry := uint16(inFlight), uint32(s.Session/time.Second)
	request := &paho5.Connect{
		ClientID: s.ClientID, KeepAlive: uint16(keepAlive / time.Second), CleanStart: s.Session == 0,
		Username: s.Username, UsernameFlag: s.Username != "", Password: []byte(s.Password), PasswordFlag: s.Password != "",
		Properties: &paho5.ConnectProperties{ReceiveMaximum: &maximum, SessionExpiryInterval: &expiry},
	}
	if reply, err := client.Connect(ctx, request); err != nil {
		_ = conn.Close()
		if reply != nil {
			return nil, fmt.Errorf("the broker refuses the connection with the code %d: %s", reply.ReasonCode, (&packets.Connack{ReasonCode: reply.ReasonCode}).Reason())
		}
		return nil, err
	}
	c := &connection{lost: lost, close: func() {
		time.Sleep(lastAcks)
		_ = client.Disconnect(&paho5.Disconnect{}) // the connection ends in any case
	}}
	var all paho5.Subscribe
	for _, filter := range s.Filters {
		all.Subscriptions = append(all.Subscriptions, paho5.SubscribeOptions{Topic: filter, QoS: 1})
	}
	reply, err := client.Subscribe(ctx, &all)
	if err != nil {
		c.close()
		if reply != nil {
			err = fmt.Errorf("the broker refuses a subscription with the codes %d: %w", reply.Reasons, err)
		}
		return nil, err
	}
	return c, nil
}

// errLost is the error of a connection that ended without a reason.
var errLost = errors.New("the connection was lost")
