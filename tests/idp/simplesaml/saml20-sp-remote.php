<?php
$options = require __DIR__ . '/options.php';
foreach ($options['sp_addresses'] as $address) {
    $metadata[$address . 'metadata/'] = $options['sp'] + [
        'AssertionConsumerService' => $address . 'acs/',
        'SingleLogoutService' => $address . 'logout/',
    ];
}
foreach ($options['sp_metadata'] as $xml) {
    $parsed = \SimpleSAML\Metadata\SAMLParser::parseString($xml);
    $metadata[$parsed->getEntityId()] = $options['sp'] + $parsed->getMetadata20SP();
}
