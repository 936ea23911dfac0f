// Forwards HTTP on loopback to the port given as argument and adds the header Authorization from the environment, for
// clients that cannot send a token. Prints its own port. A process of its own, because tests block while a client runs.
import http from 'node:http';

const port = Number(process.argv[2]);
const { AUTHORIZATION: authorization } = process.env;

const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization };
  const { method, url: path } = request;
  const target = http.request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  // A side that goes away takes the other one with it.
  target.on('error', () => response.destroy());
  response.on('close', () => target.destroy());
  request.pipe(target);
});
proxy.listen(0, '127.0.0.1', () => console.log(proxy.address().port));
