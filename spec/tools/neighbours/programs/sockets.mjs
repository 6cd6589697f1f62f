/** Packages that take over upgraded connections of the application's own server. */
export const SOCKETS = [
  {
    package: "ws",
    use: "`.attach((server) => new WebSocketServer({ server }))`",
    async run(host, WebSocket, { WebSocketServer }) {
      host.attach((server) => {
        const sockets = new WebSocketServer({ server, path: "/socket" });
        sockets.on("connection", (socket) => socket.on("message", (data) => socket.send(`echo ${data}`)));
      });
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      const client = new WebSocket(`${host.url.replace("http", "ws")}/socket`);
      const echo = await new Promise((resolve, reject) => {
        client.on("open", () => client.send("hello"));
        client.on("message", (data) => resolve(String(data)));
        client.on("error", reject);
      });
      host.note("echo", echo);
      client.close();
      const refused = new WebSocket(`${host.url.replace("http", "ws")}/other`);
      host.note("other path", await new Promise((resolve) => refused.on("error", ({ message }) => resolve(message))));
      await host.get("/");
    },
  },
  {
    package: "socket.io",
    use: "`.attach((server) => new Server(server))`",
    async run(host, socketIo) {
      const { io } = await import("socket.io-client");
      host.attach((server) => {
        const sockets = new socketIo.Server(server);
        sockets.on("connection", (socket) => socket.on("ask", (text, reply) => reply(`echo ${text}`)));
      });
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      for (const transport of ["polling", "websocket"]) {
        const client = io(host.url, { transports: [transport], forceNew: true, reconnection: false });
        host.note(transport, await client.timeout(5000).emitWithAck("ask", "hello"));
        client.disconnect();
      }
      await host.get("/");
    },
  },
];
