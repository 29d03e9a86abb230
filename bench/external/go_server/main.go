// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A gRPC server in Go that is no part of distbench: example.Cache, as
// distbench/products/external/grpc_service.py has it in Python, with the same
// ways to misbehave. It prints its address when it is ready.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // answers in gzip who asks in it
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// As in grpc_service.py.
const (
	watched  = 5
	answered = 3
	pause    = 500 * time.Millisecond
)

// The types of example.Cache, whose fields are one text each.
type cache struct {
	query, value protoreflect.MessageDescriptor
	key, text    protoreflect.FieldDescriptor
}

func newCache(file protoreflect.FileDescriptor) *cache {
	query := file.Messages().ByName("Query")
	value := file.Messages().ByName("Value")
	return &cache{
		query: query, value: value,
		key: query.Fields().ByName("key"), text: value.Fields().ByName("text"),
	}
}

func (c *cache) receive(receive func(any) error) (string, error) {
	query := dynamicpb.NewMessage(c.query)
	if err := receive(query); err != nil {
		return "", err
	}
	return query.Get(c.key).String(), nil
}

func (c *cache) answer(text string) proto.Message {
	value := dynamicpb.NewMessage(c.value)
	value.Set(c.text, protoreflect.ValueOfString(text))
	return value
}

func behaviour(ctx context.Context) string {
	data, _ := metadata.FromIncomingContext(ctx)
	if said := data.Get("behaviour"); len(said) > 0 {
		return said[0]
	}
	return ""
}

func (c *cache) get(_ any, _ context.Context, receive func(any) error,
	_ grpc.UnaryServerInterceptor) (any, error) {
	key, err := c.receive(receive)
	if err != nil {
		return nil, err
	}
	if len(key) >= 7 && key[:7] == "missing" {
		return nil, status.Error(codes.NotFound, "no such key")
	}
	return c.answer("value of " + key), nil
}

func (c *cache) watch(_ any, stream grpc.ServerStream) error {
	key, err := c.receive(stream.RecvMsg)
	if err != nil {
		return err
	}
	for number := range watched {
		if err := stream.SendMsg(c.answer(fmt.Sprintf("%d of %s", number, key))); err != nil {
			return err
		}
	}
	return nil
}

// Answers once, unless it is to be silent or to answer twice, which Python's
// servers cannot.
func (c *cache) put(_ any, stream grpc.ServerStream) error {
	for {
		if _, err := c.receive(stream.RecvMsg); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	answers := map[string]int{"silent": 0, "twice": 2}
	count, known := answers[behaviour(stream.Context())]
	if !known {
		count = 1
	}
	for range count {
		if err := stream.SendMsg(c.answer("all")); err != nil {
			return err
		}
	}
	return nil
}

func (c *cache) talk(_ any, stream grpc.ServerStream) error {
	how := behaviour(stream.Context())
	if how == "eager" {
		if err := stream.SendMsg(c.answer("nobody asked")); err != nil {
			return err
		}
	}
	for number := 0; ; number++ {
		key, err := c.receive(stream.RecvMsg)
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if number == answered {
			switch how {
			case "early":
				return nil
			case "error":
				return status.Error(codes.Aborted, "half is enough")
			case "pause":
				time.Sleep(pause)
			}
		}
		if how == "stall" && number >= answered || how == "fewer" && number%2 == 1 {
			continue
		}
		if err := stream.SendMsg(c.answer(key)); err != nil {
			return err
		}
		if how == "extra" {
			if err := stream.SendMsg(c.answer("once more")); err != nil {
				return err
			}
		}
	}
	if how == "stall" {
		<-stream.Context().Done()
	}
	return nil
}

// Registers the file of a descriptor set, so that reflection knows it.
func readFile(path string) (protoreflect.FileDescriptor, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(bytes, set); err != nil {
		return nil, err
	}
	file, err := protodesc.NewFile(set.File[0], protoregistry.GlobalFiles)
	if err != nil {
		return nil, err
	}
	return file, protoregistry.GlobalFiles.RegisterFile(file)
}

// Returns TLS that shows the certificate, and asks clients for one of the
// authorities of a file, if that is not empty.
func serverTLS(certificate, key, clientCA string) (credentials.TransportCredentials, error) {
	own, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{own}}
	if clientCA != "" {
		pem, err := os.ReadFile(clientCA)
		if err != nil {
			return nil, err
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", clientCA)
		}
	}
	return credentials.NewTLS(config), nil
}

func run() error {
	descriptors := flag.String("descriptors", "cache.pb", "descriptor set of example.Cache")
	listen := flag.String("listen", "127.0.0.1:0", "HOST:PORT")
	certificate := flag.String("certificate", "", "PEM file; with --key: TLS")
	key := flag.String("key", "", "PEM file")
	clientCA := flag.String("client_ca", "", "PEM file; clients must have a certificate of it")
	flag.Parse()
	file, err := readFile(*descriptors)
	if err != nil {
		return err
	}
	var options []grpc.ServerOption
	if *certificate == "" && *clientCA != "" {
		return errors.New("--client_ca needs --certificate and --key")
	}
	if *certificate != "" {
		creds, err := serverTLS(*certificate, *key, *clientCA)
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(creds))
	}
	server := grpc.NewServer(options...)
	c := newCache(file)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "example.Cache",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Get", Handler: c.get}},
		Streams: []grpc.StreamDesc{
			{StreamName: "Watch", Handler: c.watch, ServerStreams: true},
			{StreamName: "Put", Handler: c.put, ClientStreams: true},
			{StreamName: "Talk", Handler: c.talk, ServerStreams: true, ClientStreams: true},
		},
		Metadata: file.Path(),
	}, nil)
	reflection.Register(server)
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-stopped
		server.Stop()
	}()
	fmt.Printf("Listening at %s\n", listener.Addr())
	return server.Serve(listener)
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
